/** The console as files over HTTP, and what is said where it is not built. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, readFileSync, watch } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { brotliDecompressSync } from 'node:zlib';
import { sendRaw } from '../../../test-support/http/raw-http.ts';
import { useEmptyApi } from '../../../test-support/service/api.ts';
import { waitUntil } from '../../../test-support/wait-until.ts';
import type { RequestContext } from '../../platform/http/route.ts';
import type { Log } from '../../platform/log/log.ts';
import { consolePageRoute } from './console.route.ts';
import { consoleBuild, WEB_FOLDER, warnOfBuild } from './console-build.ts';
import { createConsoleFiles } from './console-files.ts';

const api = await useEmptyApi();

test('every address below /console/ has the page, and finds its files from there [WEB-1]', async () => {
  for (const path of [
    '',
    'exchange',
    'accounts/one/two',
    'people/one),',
    'people%2Fone?from=/mail/',
    'some%20page',
    'caf%C3%A9/100%25',
  ]) {
    const url = `${api.origin}/console/${path}`;
    const page = await api.call(url);
    assert.equal(page.status, 200);
    assert.equal(page.headers.get('content-type'), 'text/html; charset=utf-8');
    assert.equal(page.headers.get('cache-control'), 'no-store');
    assert.match(page.headers.get('content-security-policy') ?? '', /require-trusted-types-for 'script'/);
    const script = /<script[^>]* src="([^"]+)"/.exec(page.text)?.[1] ?? '';
    const file = await api.call(new URL(script, url).href);
    assert.equal(file.status, 200);
    assert.equal(file.headers.get('cache-control'), 'public, max-age=31536000, immutable');
  }
  assert.equal((await api.call(`${api.origin}/console/assets/none.js`)).status, 404);
  for (const call of ['api/none', 'apix', 'api:x/none', '%61pi/none', 'a%5Cb', 'a//b'])
    assert.equal((await api.call(`${api.origin}/console/${call}`)).status, 404, call);
  const entrance = await api.call(`${api.origin}/console`);
  assert.equal(entrance.status, 308);
  assert.equal(entrance.headers.get('location'), 'console/');
});

test('who opens the address of the service in a browser is led to the console; all else there is 404 as ever [WEB-72]', async () => {
  const { port } = new URL(api.origin);
  const send = async (method: string, accept: string, target = '/') => {
    const headers = accept === '' ? {} : { accept };
    const { status, headers: answered } = await sendRaw(Number(port), { method, target, headers });
    return [status, answered.location];
  };
  const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
  const led = [303, 'console/'];
  assert.deepEqual(await send('GET', browser), led);
  assert.deepEqual(await send('HEAD', browser), led);
  assert.deepEqual(await send('GET', 'Text/HTML;level=1', '/?from=mail'), led);
  const notThere = [404, undefined];
  for (const accept of ['', '*/*', 'application/json', 'text/*', 'text/html;q=0, application/json'])
    assert.deepEqual(await send('GET', accept), notThere, accept);
  for (const target of ['/nope', '//', '/api/v1/nope'])
    assert.equal((await send('GET', browser, target))[0], 404);
  for (const method of ['POST', 'OPTIONS', 'QUERY']) assert.deepEqual(await send(method, browser), notThere);
});

test('files are sent compressed to those who take it [WEB-1]', async () => {
  const files = createConsoleFiles()();
  const [name = '', file] = [...(files?.assets ?? [])].find(([one]) => one.endsWith('.js')) ?? [];
  const read = (accepted: string) =>
    consolePageRoute(() => files).handle(
      { params: { '*': name } } as never,
      {
        headers: { 'accept-encoding': accepted },
      } as unknown as RequestContext,
    );
  const compressed = await read('gzip, deflate, br');
  assert.equal(compressed.headers?.['content-encoding'], 'br');
  assert.deepEqual(brotliDecompressSync(compressed.body as Buffer), file?.plain);
  assert.equal((await read('gzip')).headers?.['content-encoding'], 'gzip');
  assert.equal((await read('br;q=0')).headers?.['content-encoding'], undefined);
});

test('where the console is not built, its address says what to run [WEB-2]', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'console-'));
  t.after(() => rm(folder, { recursive: true }));
  const route = consolePageRoute(createConsoleFiles(join(folder, 'dist')));
  await assert.rejects(
    () => route.handle({ params: { '*': '' } } as never, { headers: {} } as unknown as RequestContext),
    { statusCode: 503, message: /npm run console:build/ },
  );
  assert.equal(consoleBuild(folder), 'missing');
  const said: string[] = [];
  warnOfBuild({ warn: (_: unknown, text: string) => said.push(text) } as unknown as Log, 'missing');
  assert.match(said.join(), /npm run console:build/);
});

test('while the console is built anew, the one in its folder is whole', async (t) => {
  const dist = join(WEB_FOLDER, 'dist');
  const missing = () => {
    const page = readFileSync(join(dist, 'index.html'), 'utf8');
    const named = [...page.matchAll(/="\.\/(assets\/[^"]+)/g)].map(([, name]) => `${name}.br`);
    return named.filter((name) => !existsSync(join(dist, name)));
  };
  const seen: string[][] = [];
  const watcher = watch(dist, () => seen.push(missing()));
  t.after(() => watcher.close());
  const killed = spawn(process.execPath, ['--version']);
  await once(killed, 'exit');
  const left = (pid: number | undefined) =>
    ['index.html', 'assets/index.js'].map((name) => join(dist, `${name}.${pid}.tmp`));
  t.after(() => Promise.all(left(process.pid).map((path) => rm(path, { force: true }))));
  for (const path of [...left(killed.pid), ...left(process.pid)]) await writeFile(path, '');
  const build = spawn(process.execPath, ['web/build.ts'], { cwd: join(WEB_FOLDER, '..'), stdio: 'inherit' });
  t.after(() => build.kill());
  assert.deepEqual(await once(build, 'exit'), [0, null]);
  await waitUntil(() => seen.length > 0);
  assert.deepEqual(seen.flat(), []);
  assert.deepEqual(left(killed.pid).filter(existsSync), [], 'what a killed build left');
  assert.deepEqual(left(process.pid).filter(existsSync), left(process.pid), 'what another build writes');
});

test('a console that is older than its sources is known', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'console-'));
  t.after(() => rm(folder, { recursive: true }));
  const web = join(folder, 'web');
  await mkdir(join(web, 'dist'), { recursive: true });
  await writeFile(join(web, 'dist', 'index.html'), '');
  assert.equal(consoleBuild(web), 'built', 'an installation without sources');
  const ofService = await filesOfService();
  assert.ok(ofService.length > 3);
  const files = ['web/src/pages/one.ts', ...ofService];
  for (const path of files) {
    await mkdir(join(folder, path, '..'), { recursive: true });
    await writeFile(join(folder, path), '');
  }
  const [earlier, later] = [new Date('2026-01-01'), new Date('2026-01-02')];
  const date = (path: string, at: Date) => utimes(join(folder, path), at, at);
  for (const path of [...files, 'web/src/pages', 'web/src', 'web/dist/index.html']) await date(path, earlier);
  assert.equal(consoleBuild(web), 'built');
  for (const path of files) {
    await date(path, later);
    assert.equal(consoleBuild(web), 'older-than-sources', path);
    await date(path, earlier);
  }
});

/** What the console has from the service, types left out. */
async function filesOfService(): Promise<string[]> {
  const sources = globSync('src/**/*.{ts,tsx}', { cwd: WEB_FOLDER, exclude: ['**/*.test.ts'] });
  const texts = await Promise.all(sources.map((name) => readFile(join(WEB_FOLDER, name), 'utf8')));
  const imported = texts.flatMap((text) =>
    Array.from(text.matchAll(/^import (?!type ).*'(?:\.\.\/)+(src\/[^']+)';$/gm), ([, path = '']) => path),
  );
  return [...new Set(imported)];
}

/**
 * Builds the console into web/dist, each file compressed beside it: `npm run console:build`. With `--if-needed`, only where
 * its sources are newer. What it makes is served by src/app/console/. Several builds may run at once in one checkout, such
 * as those of `npm start` and `npm test`.
 */
import { mkdirSync, readdirSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import type { Rolldown } from 'vite';
import { consoleBuild, WEB_FOLDER } from '../src/app/console/console-build.ts';

const DIST = join(WEB_FOLDER, 'dist');
const PAGE = 'index.html';
/** Nearly as small as at 11, in a twentieth of the time. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };

async function build(): Promise<void> {
  const { build: buildWithVite } = await import('vite');
  const startedAt = new Date();
  const built = await buildWithVite({
    configFile: join(WEB_FOLDER, 'vite.config.ts'),
    build: { write: false },
  });
  const files = new Map<string, Uint8Array>();
  for (const { output } of [built].flat() as Rolldown.RolldownOutput[])
    for (const file of output) addFile(files, file);
  putInPlace(files, startedAt);
}

function addFile(files: Map<string, Uint8Array>, file: Rolldown.OutputAsset | Rolldown.OutputChunk): void {
  const bytes = Buffer.from(file.type === 'chunk' ? file.code : file.source);
  files.set(file.fileName, bytes);
  if (!file.fileName.startsWith('assets/')) return;
  files.set(`${file.fileName}.gz`, gzipSync(bytes, { level: 9 }));
  files.set(`${file.fileName}.br`, brotliCompressSync(bytes, BROTLI));
}

/** Each file is whole at every moment. The page comes when all that it names is there. */
function putInPlace(files: ReadonlyMap<string, Uint8Array>, startedAt: Date): void {
  mkdirSync(join(DIST, 'assets'), { recursive: true });
  const put = (name: string, bytes: Uint8Array) => {
    const own = join(DIST, `${name}.${process.pid}.tmp`);
    writeFileSync(own, bytes);
    // What changes from now on is newer.
    utimesSync(own, startedAt, startedAt);
    renameSync(own, join(DIST, name));
  };
  for (const [name, bytes] of files) if (name !== PAGE) put(name, bytes);
  put(PAGE, files.get(PAGE) as Uint8Array);
  for (const name of readdirSync(join(DIST, 'assets')))
    if (!files.has(`assets/${name}`) && !name.endsWith('.tmp'))
      rmSync(join(DIST, 'assets', name), { force: true });
  for (const folder of [DIST, join(DIST, 'assets')])
    for (const name of readdirSync(folder))
      if (isAbandoned(name)) rmSync(join(folder, name), { force: true });
}

/** Of a build that was killed. */
function isAbandoned(name: string): boolean {
  const pid = /\.(\d+)\.tmp$/.exec(name)?.[1];
  if (pid === undefined) return false;
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

if (!process.argv.includes('--if-needed') || consoleBuild() !== 'built') await build();

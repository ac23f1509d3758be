import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { describe, test } from 'node:test';
import { waitUntil } from '../../../test-support/wait-until.ts';
import { createLog, errorFields, type LogFields } from './log.ts';

function capture(level: string) {
  const sink = new PassThrough();
  let text = '';
  sink.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  const lines = () => text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));
  return { log: createLog(level, sink), lines };
}

test('a line has its level, time, message and the fields of the list, nothing else [SEC-22]', () => {
  const { log, lines } = capture('info');
  const fields = {
    event: 'x',
    status: 200,
    patientName: 'Quix',
    token: 'secret',
    body: { a: 1 },
  } as LogFields;
  log.info(fields, 'done');
  const [{ time, ...line }] = lines();
  assert.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  assert.deepEqual(line, { level: 30, event: 'x', status: 200, msg: 'done' });
});

test('a field that the list does not have does not compile, however the fields were put together [SEC-22]', () => {
  const { log, lines } = capture('info');
  type Taken = Parameters<typeof log.info<{ accountId: string; userAgent: string }>>[0];
  const isTaken: [Taken['accountId']] extends [never] ? false : true = true;
  const isRefused: [Taken['userAgent']] extends [never] ? true : false = true;
  const ids = { accountId: 'a', sessionId: 's' };
  log.info({ event: 'x', ...ids }, 'done');
  assert.ok(isTaken && isRefused);
  assert.equal(lines()[0].sessionId, 's');
});

test('levels below the one set are left out', () => {
  const { log, lines } = capture('warn');
  log.debug({}, 'a');
  log.info({}, 'b');
  log.warn({}, 'c');
  log.error({}, 'd');
  assert.deepEqual(
    lines().map(({ msg }) => msg),
    ['c', 'd'],
  );
});

describe('errorFields', () => {
  test('names the error, its code and where it was thrown, without its message', () => {
    class OddError extends Error {
      override name = 'OddError';
      readonly code = '23505';
    }
    const fields = errorFields(
      new OddError('Key (family)=(Quix) already exists.\n    at line Quix of the file'),
    );
    assert.equal(fields.errorName, 'OddError');
    assert.equal(fields.errorCode, '23505');
    assert.match(String(fields.stack), /log\.test\.ts/);
    assert.doesNotMatch(JSON.stringify(fields), /Quix/);
  });

  test('tells what was thrown when it was no error, and not its value', () => {
    assert.deepEqual(errorFields('Quix'), { errorName: 'string' });
    assert.deepEqual(errorFields(undefined), { errorName: 'undefined' });
    assert.deepEqual(errorFields({ message: 'Quix' }), { errorName: 'object' });
  });
});

test('a full disk below the log stops nothing', { skip: !existsSync('/dev/full') }, () => {
  const full = openSync('/dev/full', 'w');
  const program = `
    import { createLog } from '${new URL('./log.ts', import.meta.url)}';
    const log = createLog('info');
    for (let line = 0; line < 20_000; line++) log.info({ event: 'line' }, 'x'.repeat(100));
    process.stderr.write('went on');`;
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', full, 'pipe'],
    encoding: 'utf8',
  });
  closeSync(full);
  assert.deepEqual([status, stderr], [0, 'went on']);
});

test('the log goes on when there is room again on a full disk', {
  skip: process.platform === 'win32',
}, async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'interchange-log-'));
  t.after(() => rm(folder, { recursive: true }));
  const program = `
    import { truncateSync } from 'node:fs';
    import { createLog } from '${new URL('./log.ts', import.meta.url)}';
    const log = createLog('info');
    for (const length of [100, 1]) for (let line = 0; line < 10_000; line++) log.info({}, 'x'.repeat(length));
    truncateSync('full');
    log.info({}, 'x'.repeat(100));`;
  // A file of 8 KiB at most is a disk that is full.
  const shell = `trap '' XFSZ; ulimit -f 8; exec "$0" --input-type=module --eval "$1" >>full`;
  const { status } = spawnSync('bash', ['-c', shell, process.execPath, program], { cwd: folder });
  assert.equal(status, 0);
  assert.ok((await stat(join(folder, 'full'))).size > 0);
});

test('a reader of the log that stands still stops nothing, and gets the lines that waited, each of them whole', {
  skip: process.platform === 'win32',
}, async (t) => {
  const program = `
    import { createServer } from 'node:net';
    import { createLog } from '${new URL('./log.ts', import.meta.url)}';
    const log = createLog('info');
    for (let count = 0; count < 4_000; count++) log.info({ pid: process.pid, count }, 'x'.repeat(count % 200));
    process.stderr.write('.');
    createServer().listen(0, '127.0.0.1');`;
  // Two processes share a pipe, as those of one service do.
  const run = '"$0" --input-type=module --eval "$1"';
  // It takes a byte at a time.
  const reader = `while read -r line; do echo "$line"; done`;
  const command = `(${run} & ${run} & wait) | ${reader}`;
  const shell = spawn('bash', ['-c', command, process.execPath, program], { detached: true });
  t.after(() => process.kill(-(shell.pid ?? 0), 'SIGKILL'));
  let wentOn = '';
  shell.stderr.on('data', (said) => {
    wentOn += said;
  });
  await waitUntil(() => wentOn === '..', 'both go on');
  const counts = new Map<number, number>();
  let lines = 0;
  for await (const line of createInterface({ input: shell.stdout })) {
    const { pid, count } = JSON.parse(line);
    assert.equal(count, counts.get(pid) ?? 0);
    counts.set(pid, count + 1);
    lines += 1;
    if (lines === 8_000) break;
  }
  assert.deepEqual([...counts.values()], [4_000, 4_000]);
});

test('a process that ends while the reader of its log is behind leaves no line out', async () => {
  const program = `
    import { createLog } from '${new URL('./log.ts', import.meta.url)}';
    const log = createLog('info');
    for (let count = 0; count < 4_000; count++) log.info({ count }, 'x'.repeat(100));
    process.stderr.write('ends');`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program]);
  await once(child.stderr, 'data');
  let count = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    assert.equal(JSON.parse(line).count, count);
    count += 1;
  }
  assert.equal(count, 4_000);
});

test('a reader of the log that stands still stops nothing either after another process of it was started or ended', async (t) => {
  const program = `
    import { spawnSync } from 'node:child_process';
    import { createLog } from '${new URL('./log.ts', import.meta.url)}';
    const log = createLog('info');
    for (let count = 0; count < 4_000; count++) log.info({ count }, 'x'.repeat(100));
    spawnSync(process.execPath, ['--eval', ''], { stdio: ['ignore', 'inherit', 'ignore'] });
    log.info({ event: 'last' }, 'x');
    process.stderr.write('went on');`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program]);
  t.after(() => child.kill('SIGKILL'));
  let wentOn = '';
  child.stderr.on('data', (said) => {
    wentOn += said;
  });
  await waitUntil(() => wentOn === 'went on');
});

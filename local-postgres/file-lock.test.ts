import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { tryLock, waitForLock } from './file-lock.ts';

const MODULE = fileURLToPath(new URL('file-lock.ts', import.meta.url));

describe('locks between processes', () => {
  let folder: string;
  let path: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'interchange-lock-'));
    path = join(folder, 'lock');
  });
  after(() => rm(folder, { recursive: true }));

  /** Another process that holds the lock until it is killed. */
  async function holdElsewhere(mode: 'shared' | 'exclusive'): Promise<ChildProcess> {
    const program = `
      const { tryLock } = await import(${JSON.stringify(MODULE)});
      const lock = tryLock(${JSON.stringify(path)}, ${JSON.stringify(mode)});
      process.stdout.write(lock === undefined ? 'refused' : 'held');
      process.stdin.on('data', () => lock);`;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', program]);
    const [output] = await once(child.stdout, 'data');
    assert.equal(String(output), 'held');
    return child;
  }

  async function killHard(child: ChildProcess): Promise<void> {
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  }

  test('excludes everyone while exclusive, until its process is killed', async () => {
    const holder = await holdElsewhere('exclusive');
    assert.equal(tryLock(path, 'exclusive'), undefined);
    assert.equal(tryLock(path, 'shared'), undefined);
    await killHard(holder);
    const lock = tryLock(path, 'exclusive');
    assert.ok(lock);
    lock.release();
  });

  test('is shared by many, and not exclusive until the last one has gone', async () => {
    const holder = await holdElsewhere('shared');
    const here = tryLock(path, 'shared');
    assert.ok(here);
    assert.equal(tryLock(path, 'exclusive'), undefined);
    await killHard(holder);
    assert.equal(tryLock(path, 'exclusive'), undefined);
    here.release();
    const alone = tryLock(path, 'exclusive');
    assert.ok(alone);
    alone.release();
  });

  test('needs no room on the disk', async () => {
    const lock = tryLock(path, 'exclusive');
    assert.deepEqual([lock === undefined, await readdir(folder)], [false, ['lock']]);
    lock?.release();
  });

  test('keeps users of one process apart', () => {
    const [first, second] = [tryLock(path, 'shared'), tryLock(path, 'shared')];
    first?.release();
    assert.equal(tryLock(path, 'exclusive'), undefined);
    second?.release();
    const alone = tryLock(path, 'exclusive');
    assert.ok(alone);
    assert.equal(tryLock(path, 'shared'), undefined);
    alone.release();
  });

  test('is waited for, but not for ever', async () => {
    const held = tryLock(path, 'exclusive');
    assert.equal(await waitForLock(path, 30), undefined);
    const waiting = waitForLock(path, 10_000);
    held?.release();
    const lock = await waiting;
    assert.ok(lock);
    lock.release();
  });
});

/** Rotation of the master key of the embedded database: one command, whose key file is never lost. */
import assert from 'node:assert/strict';
import { readFile, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { loadConfig } from '../src/app/config/config.ts';
import { masterKeySource } from '../src/app/config/master-key.ts';
import { addMasterKey } from '../src/app/master-key/rotate-master-key.ts';
import { createMasterKey } from '../src/platform/crypto/master-key.ts';
import { ADVISORY_LOCKS } from '../src/platform/db/advisory-locks.ts';
import { createPool, type Pool } from '../src/platform/db/database.ts';
import { makeDataDir, openHere } from '../test-support/database/embedded.ts';
import { type Clinic, openClinic } from '../test-support/service/clinic-process.ts';
import { runProcess, startCommand } from '../test-support/service/command.ts';
import { isRefused, ROTATE, verifyIsWhole, waitingRotations } from '../test-support/sign-in/master-key.ts';
import { waitUntil } from '../test-support/wait-until.ts';

describe('rotation of the master key of the embedded database', { timeout: 1_800_000 }, () => {
  let data: Awaited<ReturnType<typeof makeDataDir>>;
  let clinic: Clinic;
  let path: string;

  before(async () => {
    data = await makeDataDir();
    path = join(data.path, 'master.key');
    clinic = await openClinic({ DATA_DIR: data.path });
    await clinic.start();
    await clinic.useEverything();
  });
  after(async () => {
    await clinic.close();
    await data.remove();
  });

  test('is one command, beside a service that is not restarted [OPS-16]', async () => {
    const old = (await readFile(path, 'utf8')).trim();
    const printed = await clinic.command(...ROTATE);
    assert.match(printed, /is now the only one that opens the database/);
    const key = (await readFile(path, 'utf8')).trim();
    assert.notEqual(key, old);
    assert.equal((await stat(path)).mode & 0o777, 0o600);
    assert.equal((await readFile(`${path}.previous`, 'utf8')).trim(), old);
    await clinic.useEverything();
    await isRefused(clinic, old);
    await verifyIsWhole(clinic);
  });

  test('never leaves a key file that does not open the database, wherever it is killed', async () => {
    const server = await openHere(data.path);
    const owner = createPool({ url: server.url, max: 2, applicationName: 'test' }, () => undefined);
    try {
      const old = await readFile(path, 'utf8');
      await killedWhileWaiting(owner, `select pg_advisory_lock_shared(${ADVISORY_LOCKS.dataKeys})`);
      assert.equal(await readFile(path, 'utf8'), old);
      const next = await readFile(`${path}.next`, 'utf8');
      await clinic.command('organisation', 'list');

      // Killed after both keys are good, before the file is replaced.
      const source = masterKeySource(loadConfig({ DATA_DIR: data.path }));
      await addMasterKey(owner, source, {
        key: createMasterKey(Buffer.from(next.trim(), 'hex')),
        keep: async () => undefined,
      });
      await clinic.command('organisation', 'list');

      await killedWhileWaiting(owner, 'begin; lock table access_log_writer in share row exclusive mode');
      assert.deepEqual(
        [await readFile(path, 'utf8'), await readFile(`${path}.previous`, 'utf8')],
        [next, old],
        'the key that was made first is the one that is used',
      );
      await clinic.useEverything();
      await clinic.command(...ROTATE);
      assert.equal(await readFile(path, 'utf8'), next);
      await clinic.useEverything();
      await isRefused(clinic, old.trim());
      await verifyIsWhole(clinic);
    } finally {
      await owner.end();
      await server.release();
    }
  });

  test('is done twice, one after the other, when it is called twice at once', async () => {
    const server = await openHere(data.path);
    const owner = createPool({ url: server.url, max: 2, applicationName: 'test' }, () => undefined);
    try {
      const old = await readFile(path, 'utf8');
      const blocker = await owner.connect();
      await blocker.query(`select pg_advisory_lock_shared(${ADVISORY_LOCKS.dataKeys})`);
      const both = [1, 2].map(() => startCommand(ROTATE, { env: clinic.env }));
      for (const { child } of both) child.stdin.end();
      await waitUntil(async () => (await waitingRotations(owner)) === 2, 'both wait');
      blocker.release(true);
      for (const { code, stderr } of await Promise.all(both.map(({ ended }) => ended)))
        assert.equal(code, 0, stderr);
      const { id } = createMasterKey(Buffer.from(old.trim(), 'hex'));
      assert.equal(await readFile(`${path}.previous-${id}`, 'utf8'), old, 'for backups from before');
      await clinic.useEverything();
      await verifyIsWhole(clinic);
    } finally {
      await owner.end();
      await server.release();
    }
  });

  /** Kills the command while it waits for what `block` holds. */
  async function killedWhileWaiting(owner: Pool, block: string): Promise<void> {
    const blocker = await owner.connect();
    await blocker.query(block);
    const started = startCommand(ROTATE, { env: clinic.env });
    started.child.stdin.end();
    await waitUntil(async () => (await waitingRotations(owner)) > 0, 'the rotation waits');
    started.child.kill('SIGKILL');
    await started.ended;
    blocker.release(true);
    await waitUntil(async () => (await waitingRotations(owner)) === 0, 'the rotation is gone');
  }

  test('says of another MASTER_KEY where the key of this database is', async () => {
    const list = async (env: Record<string, string>) =>
      (await runProcess(['organisation', 'list'], { env: { ...clinic.env, ...env } })).stderr;
    const hint = (name: string) =>
      new RegExp(`Nothing was changed\\. The key of this database is in ${path}: unset ${name}\\.`);
    const MASTER_KEY = '17'.repeat(32);
    assert.match(await list({ MASTER_KEY }), hint('MASTER_KEY'));
    const MASTER_KEY_FILE = join(data.path, 'other.key');
    await writeFile(MASTER_KEY_FILE, MASTER_KEY);
    assert.match(await list({ MASTER_KEY_FILE }), hint('MASTER_KEY_FILE'));

    await clinic.stop();
    await rename(path, `${path}.kept`);
    await rename(MASTER_KEY_FILE, path);
    assert.match(
      await list({}),
      new RegExp(`${path} is key .* expects .* Nothing was changed\\. Put the file back`),
    );
    assert.doesNotMatch(await list({ MASTER_KEY: '18'.repeat(32) }), /is in .*master\.key/);
    await rename(`${path}.kept`, path);
    await clinic.start();
  });

  test('makes no new key where the key file is lost', async () => {
    await clinic.stop();
    await rename(path, `${path}.lost`);
    const { code, stderr } = await runProcess(['organisation', 'list'], { env: clinic.env });
    assert.equal(code, 1);
    assert.match(stderr, /master\.key is missing.*Put the file back/);
    await rename(`${path}.lost`, path);
    await clinic.start();
    await clinic.useEverything();
  });
});

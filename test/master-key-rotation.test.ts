/** Rotation of the master key beside a running service, interrupted and not. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import type pg from 'pg';
import { SEALED_TABLES } from '../src/app/master-key/sealed-tables.ts';
import { openUnderAny } from '../src/platform/crypto/key-ring.ts';
import { createMasterKey, unwrapDataKey } from '../src/platform/crypto/master-key.ts';
import { makePartitions } from '../src/privacy/access-log/access-log-partition.store.ts';
import { createTestDatabase, type TestDatabase } from '../test-support/database/database.ts';
import { addPersonWithApp, type ClinicPerson } from '../test-support/service/clinic-person.ts';
import { type Clinic, openClinic } from '../test-support/service/clinic-process.ts';
import { runCommand, startCommand } from '../test-support/service/command.ts';
import {
  idOf,
  isRefused,
  ROTATE,
  verifyIsWhole,
  waitingRotations,
} from '../test-support/sign-in/master-key.ts';
import { waitUntil } from '../test-support/wait-until.ts';

/** What is killed, and how far the command has come by then (a condition on pg_stat_activity). */
const KILLS = [
  { killed: ['command'], stage: 'true' },
  { killed: ['command', 'service'], stage: 'xact_start is not null' },
  { killed: ['command'], stage: `state = 'idle in transaction'` },
  { killed: [], stage: 'true' },
];
const newKey = () => randomBytes(32).toString('hex');

describe('rotation of the master key of a database of the operator', { timeout: 1_800_000 }, () => {
  let database: TestDatabase;
  let owner: pg.Client;
  let clinic: Clinic;
  let person: ClinicPerson;
  let folder: string;
  /** The key that is configured when a test begins. */
  let old: string;

  before(async () => {
    database = await createTestDatabase();
    owner = await database.connectOwner();
    folder = await mkdtemp(join(tmpdir(), 'interchange-rotation-'));
    old = newKey();
    clinic = await openClinic({ DATABASE_URL: database.url, MASTER_KEY: old });
    await clinic.start();
    await clinic.useEverything();
    person = await addPersonWithApp(clinic, owner);
  });
  /** The service has the key that is in force, by its environment. */
  beforeEach(async () => {
    const { MASTER_KEY, MASTER_KEY_FILE } = clinic.env;
    old = MASTER_KEY ?? (await readFile(MASTER_KEY_FILE ?? '', 'utf8'));
    await configure({ MASTER_KEY: old });
  });
  after(async () => {
    await clinic?.close();
    await owner.end();
    await database.drop();
    await rm(folder, { recursive: true });
  });

  /** The service is started anew where its configuration is another. */
  async function configure(keyEnvironment: Record<string, string>): Promise<void> {
    const env = { DATABASE_URL: database.url, ...keyEnvironment };
    if (clinic.running && isDeepStrictEqual(env, clinic.env)) return;
    await clinic.stop();
    clinic.env = env;
    await clinic.start();
  }

  const rotate = (args: string[], { key = clinic.env.MASTER_KEY ?? '', stdin = '' } = {}) =>
    runCommand([...ROTATE, ...args], { env: { ...clinic.env, MASTER_KEY: key }, stdin });

  async function dataKeysOf(key: string): Promise<Buffer[]> {
    const master = createMasterKey(Buffer.from(key, 'hex'));
    const { rows } = await owner.query<{ number: number; wrapped: Buffer }>(
      'select number, wrapped from data_key order by number',
    );
    return rows.flatMap(({ number, wrapped }) => unwrapDataKey(master, number, wrapped) ?? []);
  }

  test('has both keys good while processes change over, then the new one alone [OPS-16, SIGN-IN-73]', async () => {
    await makePartitions(owner, new Date('2020-01-01T00:00:00Z'), 1);
    await clinic.command('access-log', 'archive', '--before', '2020-02', '--out', join(folder, 'archive'));
    await clinic.command('restore', '--mark');
    const leaked = await dataKeysOf(old);
    const path = join(folder, 'new.key');
    const begun = await rotate(['--write-new-key-file', path, '--json']);
    assert.equal(begun.code, 0, begun.stderr);
    const key = (await readFile(path, 'utf8')).trim();
    assert.equal((await stat(path)).mode & 0o777, 0o600);
    assert.deepEqual(JSON.parse(begun.stdout), {
      masterKeyId: idOf(key),
      oldMasterKeyId: idOf(old),
      dataKeys: 1,
      finished: false,
    });
    assert.ok(!`${begun.stdout}${begun.stderr}`.includes(key));

    // One process with the old key, another with the new one.
    await clinic.useEverything();
    const other = startCommand(['serve'], { env: { ...clinic.env, MASTER_KEY: key, PORT: '0' } });
    try {
      await other.printed(/"event":"listening"/);
      const { code, stderr } = await rotate(['--finish'], { key });
      assert.equal(code, 1);
      assert.match(
        stderr,
        new RegExp(`1 process\\(es\\).*do not have master key ${idOf(key)}.*${idOf(old)}`),
      );
      assert.match((await rotate(['--finish'])).stderr, /The configured key is the old master key/);
    } finally {
      other.child.kill('SIGTERM');
      await other.ended;
    }

    await configure({ MASTER_KEY: key });
    const { refreshToken } = await clinic.login();
    const pair = await (await clinic.post('/auth/refresh', { refreshToken })).json();
    const plan = JSON.parse((await rotate(['--dry-run', '--json'])).stdout);
    assert.deepEqual(plan.otherHolders, []);
    assert.deepEqual(await dataKeysOf(key), leaked, 'a dry run changes nothing');
    const finished = await rotate(['--finish', '--json']);
    assert.equal(finished.code, 0, finished.stderr);
    const { resealed } = JSON.parse(finished.stdout) as { resealed: { name: string; resealed: number }[] };
    assert.deepEqual(
      resealed.map(({ name, resealed: rows }) => ({ name, rows })),
      plan.sealed,
    );
    assert.ok(resealed.every(({ resealed: rows }) => rows > 0));

    assert.deepEqual(await (await clinic.post('/auth/refresh', { refreshToken })).json(), pair);
    await clinic.useEverything();
    await person.signIn();
    await isRefused(clinic, old);
    await verifyIsWhole(clinic);
    await nothingOpensUnder(leaked);
    assert.deepEqual(await dataKeysOf(old), []);
    await clinic.command('key', 'rotate');
    await clinic.command(
      'connection',
      'create',
      ...clinic.place.slice(0, 2),
      '--name',
      'b',
      '--address',
      'http://127.0.0.1:1/',
      '--client-id',
      'b',
    );
    await nothingOpensUnder(leaked);
  });

  async function nothingOpensUnder(dataKeys: readonly Buffer[]): Promise<void> {
    for (const { name, list } of SEALED_TABLES) {
      const rows = await list(owner);
      assert.ok(rows.length > 0, name);
      for (const { sealedFor, sealed } of rows)
        assert.equal(openUnderAny(dataKeys, sealedFor, sealed), undefined, name);
    }
  }

  test('needs no restart where the key is in a file that is replaced [OPS-16]', async () => {
    const path = join(folder, 'master.key');
    await writeFile(path, old);
    await configure({ MASTER_KEY_FILE: path });
    const key = newKey();
    await writeFile(join(folder, 'next.key'), key);
    await clinic.command(...ROTATE, '--new-key-file', join(folder, 'next.key'));
    await rename(join(folder, 'next.key'), path);
    await clinic.useEverything();
    await clinic.command(...ROTATE, '--finish');
    await clinic.useEverything();
    assert.match(clinic.logs(), /"level":30.*"event":"access-log.chain-renewed"/);
    assert.doesNotMatch(clinic.logs(), /"level":[56]0/);
    await verifyIsWhole(clinic);
    await isRefused(clinic, old);
  });

  test('is given up with the old key, as long as it is not finished', async () => {
    const key = newKey();
    assert.equal((await rotate(['--new-key-stdin'], { stdin: `${key}\n` })).code, 0);
    const third = await rotate(['--new-key-stdin'], { stdin: newKey() });
    assert.match(third.stderr, new RegExp(`A rotation to another master key, ${idOf(key)}, is not finished`));
    const unwanted = join(folder, 'unwanted.key');
    const fourth = await rotate(['--write-new-key-file', unwanted]);
    assert.match(
      fourth.stderr,
      new RegExp(`A rotation to another master key, ${idOf(key)}, is not finished`),
    );
    await assert.rejects(stat(unwanted), { code: 'ENOENT' });
    assert.match((await rotate(['--cancel'], { key })).stderr, /is the new master key/);
    assert.equal((await rotate(['--cancel'])).code, 0);
    await isRefused(clinic, key);
    assert.match((await rotate(['--cancel'])).stderr, /No rotation of the master key is under way/);
    const ended = new RegExp(`No rotation of the master key is under way: key ${idOf(old)} alone opens`);
    assert.match((await rotate(['--finish'])).stderr, ended);
    await clinic.useEverything();
  });

  test('changes nothing while the database refuses one organisation, and is finished afterwards [OPS-16]', async () => {
    const path = join(folder, 'refused.key');
    assert.equal((await rotate(['--write-new-key-file', path])).code, 0);
    const key = (await readFile(path, 'utf8')).trim();
    await configure({ MASTER_KEY: key });
    const before = await dataKeysOf(key);
    await owner.query(`
      create function refuse() returns trigger language plpgsql as $$
      begin
        raise exception using errcode = '08006', message = 'the node of this organisation is down';
      end $$;
      create trigger refuse before update on exchange_secret for each row execute function refuse()`);
    const refused = await rotate(['--finish'], { key });
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /The database refused.*Nothing was changed.*Run --finish again/);
    assert.deepEqual(await dataKeysOf(key), before);
    assert.deepEqual(await dataKeysOf(old), before, 'both keys open the database');
    await owner.query('drop function refuse cascade');
    const finished = await rotate(['--finish'], { key });
    assert.equal(finished.code, 0, finished.stderr);
    assert.deepEqual(await dataKeysOf(old), []);
    await verifyIsWhole(clinic);
  });

  test('takes one new key, which is none of before, and from no argument', async () => {
    const wrong = [
      [],
      ['--new-key-stdin', '--write-new-key-file', 'x'],
      ['--finish', '--cancel'],
      ['--finish', '--new-key-stdin'],
    ];
    for (const args of wrong) assert.equal((await rotate(args)).code, 2, args.join());
    assert.match((await rotate(['--new-key-stdin'], { stdin: 'short' })).stderr, /must be 32 bytes/);
    assert.match((await rotate(['--new-key-stdin'], { stdin: old })).stderr, /is the key in use/);
    const path = join(folder, 'taken');
    await writeFile(path, 'kept');
    assert.match((await rotate(['--write-new-key-file', path])).stderr, /exists already/);
    assert.equal(await readFile(path, 'utf8'), 'kept');
    assert.match(
      (await rotate(['--write-new-key-file', join(folder, 'missing', 'new.key')])).stderr,
      /its folder does not exist: make it, or name another file\)\. Nothing was changed/,
    );
  });

  test('is done again from its beginning when it is killed, and so is a service beside it', async () => {
    const path = join(folder, 'master.key');
    await writeFile(path, old);
    await configure({ MASTER_KEY_FILE: path });
    const before = (await owner.query('select from data_key')).rowCount ?? 0;
    const next = join(folder, 'next.key');
    await writeFile(next, newKey());
    await untilDone([...ROTATE, '--new-key-file', next]);
    await rename(next, path);
    await untilDone([...ROTATE, '--finish'], /No rotation of the master key is under way/);
    await clinic.useEverything();
    await verifyIsWhole(clinic);
    const { rows } = await owner.query(
      'select count(*)::integer as keys, count(distinct master_key_id)::integer as masters from data_key',
    );
    assert.deepEqual(rows, [{ keys: before + 1, masters: 1 }]);
  });

  /** Connections of rotations and services by which they read the data keys. */
  async function keyHolders(where = 'true'): Promise<number[]> {
    const { rows } = await owner.query<{ pid: number }>(
      `select pid from pg_stat_activity
       where datname = current_database() and application_name like 'interchange keys%' and ${where}`,
    );
    return rows.map(({ pid }) => pid);
  }

  /** Kills the command, and the service, somewhere in the middle a few times; then lets it be. */
  async function untilDone(command: string[], doneAlready?: RegExp): Promise<void> {
    for (const { killed, stage } of KILLS) {
      const others = await keyHolders();
      const started = startCommand(command, { env: clinic.env });
      started.child.stdin.end();
      const using = clinic.login().catch(() => undefined);
      if (killed.length > 0)
        await waitUntil(async () => {
          const now = await keyHolders(stage);
          return started.child.exitCode !== null || now.some((pid) => !others.includes(pid));
        }, `the command has come to where ${stage}`);
      if (killed.includes('command')) started.child.kill('SIGKILL');
      if (killed.includes('service')) await clinic.kill();
      const { code, stderr } = await started.ended;
      await using;
      if (!clinic.running) await clinic.start();
      if (code === 0 || doneAlready?.test(stderr) === true) return;
      assert.equal(code, null, stderr);
    }
  }

  test('seals in one transaction: killed while it is under way, nothing is half sealed', async () => {
    const key = newKey();
    await rotate(['--new-key-stdin'], { stdin: key });
    await configure({ MASTER_KEY: key });
    const { dataKeys } = JSON.parse((await rotate(['--dry-run', '--json'])).stdout);
    // The last thing that it writes waits, so that everything else is written by then.
    await owner.query('begin');
    await owner.query('lock table access_log_writer in share row exclusive mode');
    const started = startCommand([...ROTATE, '--finish'], { env: clinic.env });
    started.child.stdin.end();
    await waitUntil(async () => (await waitingRotations(database.pool)) > 0, 'the rotation waits');
    started.child.kill('SIGKILL');
    await started.ended;
    await owner.query('rollback');
    await clinic.useEverything();
    const begun = JSON.parse((await rotate(['--dry-run', '--json'])).stdout);
    assert.deepEqual([begun.masterKeyIds, begun.dataKeys], [[idOf(key), idOf(old)], dataKeys]);
    assert.equal((await rotate(['--finish'])).code, 0);
    await clinic.useEverything();
    await verifyIsWhole(clinic);
  });
});

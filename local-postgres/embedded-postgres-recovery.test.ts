import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { createPool } from '../src/platform/db/database.ts';
import {
  ask,
  askUntilAnswered,
  isAlive,
  makeDataDir,
  openElsewhere,
  openHere,
  serverPid,
  startHolder,
  untilGone,
} from '../test-support/database/embedded.ts';
import { waitUntil } from '../test-support/wait-until.ts';
import { openEmbeddedPostgres } from './embedded-postgres.ts';

describe('recovery of the embedded PostgreSQL', () => {
  let folder: Awaited<ReturnType<typeof makeDataDir>>;
  beforeEach(async () => {
    folder = await makeDataDir();
  });
  afterEach(() => folder.remove());

  test('joins the server that a killed service left, and stops it in the end [OPS-8]', async () => {
    const service = await openElsewhere(folder.path);
    await ask(service.url, 'create table kept as select 1 as n');
    const pid = await serverPid(folder.path);
    await service.kill();
    assert.equal(isAlive(pid), true);
    const next = await openHere(folder.path);
    assert.equal(await serverPid(folder.path), pid);
    assert.deepEqual(await ask(next.url, 'select n from kept'), { n: 1 });
    await next.release();
    assert.equal(isAlive(pid), false);
  });

  test('starts a killed server again while it is in use, where its users expect it', async () => {
    const server = await openHere(folder.path);
    const pool = createPool({ url: server.url, max: 4, applicationName: 'test' }, () => undefined);
    await pool.query('create table kept as select 1 as n');
    const pid = await serverPid(folder.path);
    const busy = assert.rejects(pool.query('select pg_sleep(60)'));
    process.kill(pid, 'SIGKILL');
    await busy;
    await askUntilAnswered(server.url, 'select 1');
    assert.deepEqual((await pool.query('select n from kept')).rows, [{ n: 1 }]);
    assert.notEqual(await serverPid(folder.path), pid);
    await pool.end();
    await server.release();
    await assert.rejects(serverPid(folder.path), { code: 'ENOENT' });
  });

  test('starts a server again that was told to stop when its sessions end, which go on', async () => {
    const server = await openHere(folder.path);
    const pool = createPool({ url: server.url, max: 1, applicationName: 'test' }, () => undefined);
    const session = await pool.connect();
    session.on('error', () => undefined);
    await session.query('create table kept as select 1 as n');
    const pid = await serverPid(folder.path);
    process.kill(pid, 'SIGTERM');
    await untilGone(pid);
    assert.deepEqual(await askUntilAnswered(server.url, 'select n from kept'), { n: 1 });
    session.release(true);
    await pool.end();
    await server.release();
  });

  test('does not wait, where it joins a server that was told to stop, until others end their sessions', async () => {
    const service = await openElsewhere(folder.path);
    const pool = createPool({ url: service.url, max: 1, applicationName: 'test' }, () => undefined);
    const session = await pool.connect();
    session.on('error', () => undefined);
    await service.kill();
    process.kill(await serverPid(folder.path), 'SIGTERM');
    const next = await openHere(folder.path);
    assert.deepEqual(await ask(next.url, 'select 1 as n'), { n: 1 });
    session.release(true);
    await pool.end();
    await next.release();
  });

  test('starts it again once when several processes use it', async () => {
    const server = await openHere(folder.path);
    const others = await Promise.all([openElsewhere(folder.path), openElsewhere(folder.path)]);
    process.kill(await serverPid(folder.path), 'SIGKILL');
    await askUntilAnswered(server.url, 'select 1');
    const pid = await serverPid(folder.path);
    for (const other of others) assert.equal(await other.release(), 0);
    assert.equal(await serverPid(folder.path), pid);
    await server.release();
    assert.equal(isAlive(pid), false);
  });

  test('waits for sessions of a killed server that still hold its memory', async () => {
    const first = await openElsewhere(folder.path);
    await ask(
      first.url,
      `create function spin(n bigint) returns void language plpgsql as $$
      begin for i in 1..n loop perform 1; end loop; end $$`,
    );
    // It notices no end of the server. If this test fails, it ends by itself.
    const limited = `${first.url}?options=-c%20statement_timeout=60s`;
    const busy = ask(limited, 'select spin(2000000000)').catch(() => undefined);
    await askUntilAnswered(
      first.url,
      `select 1 / count(*) from pg_stat_activity where query like 'select spin%'`,
    );
    const pid = await serverPid(folder.path);
    await first.kill();
    process.kill(pid, 'SIGKILL');
    const next = await openHere(folder.path);
    assert.deepEqual(await ask(next.url, 'select 1 as n'), { n: 1 });
    await busy;
    await next.release();
  });

  test('starts a server again that is killed while it is joined', async () => {
    const service = await openElsewhere(folder.path);
    await service.kill();
    const pid = await serverPid(folder.path);
    // It takes a connection, and does not answer.
    process.kill(pid, 'SIGSTOP');
    const opening = openHere(folder.path);
    await waitUntil(() => process.getActiveResourcesInfo().includes('TCPSocketWrap'));
    process.kill(pid, 'SIGKILL');
    const next = await opening;
    assert.deepEqual(await ask(next.url, 'select 1 as n'), { n: 1 });
    await next.release();
  });

  test('starts a server again that is killed while it answers who joins it', async () => {
    const service = await openElsewhere(folder.path);
    const pid = await serverPid(folder.path);
    const url = service.url.replace(/[^/]+$/, 'postgres');
    const pool = createPool({ url, max: 1, applicationName: 'test' }, () => undefined);
    const holder = await pool.connect();
    holder.on('error', () => undefined);
    await service.kill();
    // A session that begins waits for this lock.
    await holder.query('begin');
    await holder.query('lock table pg_database in access exclusive mode');
    const opening = openHere(folder.path);
    const waiting = 'select from pg_locks where not granted';
    while ((await holder.query(waiting)).rowCount === 0);
    process.kill(pid, 'SIGKILL');
    const next = await opening;
    assert.deepEqual(await ask(next.url, 'select 1 as n'), { n: 1 });
    await next.release();
    holder.release(true);
    await pool.end();
  });

  test('starts after everything was killed at once, with what was committed [OPS-8]', async () => {
    const service = await openElsewhere(folder.path);
    await ask(service.url, 'create table kept as select 1 as n');
    const pid = await serverPid(folder.path);
    process.kill(pid, 'SIGKILL');
    await service.kill();
    await untilGone(pid);
    const next = await openHere(folder.path);
    assert.deepEqual(await ask(next.url, 'select n from kept'), { n: 1 });
    await next.release();
  });

  test('leaves a server alone that recovers for longer than is waited, so that it comes to its end [OPS-8]', async (t) => {
    await (await openHere(folder.path)).release();
    const cluster = join(folder.path, 'postgresql');
    // It recovers until it is told to end that.
    await writeFile(join(cluster, 'standby.signal'), '');
    await appendFile(join(cluster, 'postgresql.conf'), 'hot_standby = off\n');
    const now = performance.now.bind(performance);
    let hours = 0;
    t.mock.method(performance, 'now', () => now() + 3_600_000 * hours++);
    await assert.rejects(openHere(folder.path), /cannot be used/);
    t.mock.restoreAll();
    const pid = await serverPid(folder.path);
    await writeFile(join(cluster, 'promote'), '');
    process.kill(pid, 'SIGUSR1');
    const next = await openHere(folder.path);
    assert.equal(await serverPid(folder.path), pid);
    await next.release();
    assert.equal(isAlive(pid), false);
  });

  for (const [who, start] of [
    ['another program', () => spawn('sleep', ['60'])],
    ['a PostgreSQL of another folder', undefined],
    ['this very process', () => ({ pid: process.pid, kill: () => true })],
  ] as const)
    test(`starts although the process id of the killed server belongs to ${who} by now [OPS-8]`, async () => {
      const other = await makeDataDir();
      const elsewhere = start === undefined ? await openHere(other.path) : undefined;
      const program = start?.();
      const server = await openHere(folder.path);
      const pidFile = join(folder.path, 'postgresql', 'postmaster.pid');
      const text = await readFile(pidFile, 'utf8');
      await server.release();
      const reused = program?.pid ?? (await serverPid(other.path));
      await writeFile(pidFile, text.replace(/^\d+/, String(reused)));
      const next = await openHere(folder.path);
      assert.deepEqual(await ask(next.url, 'select 1 as n'), { n: 1 });
      assert.notEqual(await serverPid(folder.path), reused);
      await next.release();
      assert.equal(isAlive(reused), true, 'the other process is left alone');
      program?.kill();
      await elsewhere?.release();
      await other.remove();
    });

  test('starts with a damaged pid file', async () => {
    const server = await openHere(folder.path);
    await server.release();
    await writeFile(join(folder.path, 'postgresql', 'postmaster.pid'), '');
    const next = await openHere(folder.path);
    assert.deepEqual(await ask(next.url, 'select 1 as n'), { n: 1 });
    await next.release();
  });

  test('begins anew when the making of the folder was killed halfway', async () => {
    const maker = startHolder(folder.path);
    await untilHalfMade(folder.path, maker);
    const gone = once(maker, 'exit');
    maker.kill('SIGKILL');
    await gone;
    await assert.rejects(readdir(join(folder.path, 'postgresql')), { code: 'ENOENT' });
    const server = await openHere(folder.path);
    assert.deepEqual(await ask(server.url, 'select 1 as n'), { n: 1 });
    await server.release();
    assert.deepEqual(
      (await readdir(folder.path)).filter((name) => name.startsWith('postgresql.new')),
      [],
    );
  });

  test('goes on when it was killed before the database was made', async () => {
    const server = await openHere(folder.path);
    const admin = new URL(server.url);
    admin.pathname = '/postgres';
    await ask(admin.href, 'drop database interchange with (force)');
    const joined = await openHere(folder.path);
    assert.deepEqual(await ask(joined.url, 'select 1 as n'), { n: 1 });
    await joined.release();
    await server.release();
  });

  test('makes no new database where the one in use is gone from its place', async () => {
    const place = join(folder.path, 'postgresql');
    const failures: string[] = [];
    const log = { info: () => undefined, error: (_fields: object, text: string) => failures.push(text) };
    const settings = { fsync: 'off', shared_buffers: '16MB' };
    const server = await openEmbeddedPostgres({ dataDir: folder.path, log, settings });
    await ask(server.url, 'create table kept as select 1 as n');
    await rename(place, `${place}.moved`);
    await waitUntil(() => failures.includes('PostgreSQL could not be started again'));
    await assert.rejects(
      openHere(folder.path),
      /is in use, but .*postgresql is no longer there\. Put it back/,
    );
    assert.equal((await readdir(folder.path)).includes('postgresql'), false);
    await rename(`${place}.moved`, place);
    const joined = await openHere(folder.path);
    assert.deepEqual(await ask(joined.url, 'select n from kept'), { n: 1 });
    for (const user of [joined, server]) await user.release();
  });

  test('leaves a folder that is not its own alone', async () => {
    await mkdir(join(folder.path, 'postgresql'), { recursive: true });
    await writeFile(join(folder.path, 'postgresql', 'notes.txt'), 'mine');
    await assert.rejects(openHere(folder.path), /not a PostgreSQL data folder/);
    assert.equal(await readFile(join(folder.path, 'postgresql', 'notes.txt'), 'utf8'), 'mine');
  });

  /** initdb has begun to write its folder, and has not finished. */
  async function untilHalfMade(dataDir: string, maker: ChildProcess): Promise<void> {
    await waitUntil(async () => {
      assert.equal(maker.exitCode, null);
      const names = await readdir(dataDir).catch(() => []);
      const draft = names.find((name) => name.startsWith('postgresql.new-'));
      const made = draft === undefined ? [] : await readdir(join(dataDir, draft, 'cluster')).catch(() => []);
      return made.includes('base');
    }, 'initdb has begun');
  }
});

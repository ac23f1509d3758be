import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import {
  ask,
  isAlive,
  makeDataDir,
  openElsewhere,
  openHere,
  serverPid,
} from '../test-support/database/embedded.ts';
import { stopAbandoned } from './embedded-postgres.ts';

const CHECKOUT = join(import.meta.dirname, '..');
/** Runs a program where it sees no other processes. */
const CONTAINER = [
  'unshare',
  ...(process.getuid?.() === 0 ? [] : ['--user', '--map-current-user']),
  ...['--pid', '--fork', '--kill-child', '--mount-proc'],
];

describe('openEmbeddedPostgres', () => {
  let folder: Awaited<ReturnType<typeof makeDataDir>>;
  beforeEach(async () => {
    folder = await makeDataDir();
  });
  afterEach(() => folder.remove());

  test('makes a database in UTF-8 whose order does not depend on the machine', async () => {
    const server = await openHere(folder.path);
    const row = await ask(
      server.url,
      `select datname as name, pg_encoding_to_char(encoding) as encoding, datlocale as locale, lower('ÄÉ') as folded
         from pg_database where datname = current_database()`,
    );
    assert.deepEqual(row, { name: 'interchange', encoding: 'UTF8', locale: 'C.UTF-8', folded: 'äé' });
    await server.release();
  });

  test('listens on loopback only, asks for the password, and keeps it in a file of its owner [OPS-10]', async () => {
    const server = await openHere(folder.path);
    const settings = `select current_setting('listen_addresses') as addresses,
      current_setting('unix_socket_directories') as sockets, current_setting('max_connections') as connections`;
    assert.deepEqual(await ask(server.url, settings), {
      addresses: '127.0.0.1',
      sockets: '',
      connections: '200',
    });
    const port = Number(new URL(server.url).port);
    assert.ok(port < 32_768, `the system may give ${port} to another program while PostgreSQL is stopped`);
    const wrong = new URL(server.url);
    wrong.password = 'wrong';
    await assert.rejects(ask(wrong.href, 'select 1'), { code: '28P01' });
    const password = join(folder.path, 'postgresql.password');
    assert.equal((await stat(password)).mode & 0o777, 0o600);
    assert.equal(await readFile(password, 'utf8'), new URL(server.url).password);
    await server.release();
  });

  test('starts no second server beside one in another container, whose processes it does not see', {
    skip: canUnshare() ? false : 'this user may not make a container here',
  }, async () => {
    const inside = await openElsewhere(folder.path, CONTAINER);
    await ask(inside.url, 'create table kept as select 1 as n');
    await assert.rejects(
      openHere(folder.path),
      /is in use in another container\. Run the command there, or stop/,
    );
    assert.deepEqual(await ask(inside.url, 'select n from kept'), { n: 1 });
    assert.equal(await inside.release(), 0);
    const server = await openHere(folder.path);
    assert.deepEqual(await ask(server.url, 'select n from kept'), { n: 1 });
    await server.release();
  });

  test('gives processes that start together one server', async () => {
    const holders = await Promise.all([1, 2, 3].map(() => openElsewhere(folder.path)));
    assert.equal(new Set(holders.map(({ url }) => url)).size, 1);
    await Promise.all(holders.map(async (holder) => assert.equal(await holder.release(), 0)));
    await assert.rejects(serverPid(folder.path), { code: 'ENOENT' });
  });

  test('says what to do about a folder of another PostgreSQL version', async () => {
    await mkdir(join(folder.path, 'postgresql'), { recursive: true });
    await writeFile(join(folder.path, 'postgresql', 'PG_VERSION'), '12\n');
    await assert.rejects(openHere(folder.path), /PostgreSQL 12 created .*DATA_DIR to a new folder/);
  });

  test('leaves nothing but its own files in the folder', async () => {
    const server = await openHere(folder.path);
    await server.release();
    const names = ['postgresql', 'postgresql.gate', 'postgresql.password', 'postgresql.users'];
    assert.deepEqual((await readdir(folder.path)).toSorted(), names);
  });

  /** Making a database takes a second of processor time, copying one takes none. */
  describe('on a database that was made before', () => {
    let made: Awaited<ReturnType<typeof makeDataDir>>;
    before(async () => {
      made = await makeDataDir();
      await (await openHere(made.path)).release();
    });
    after(() => made.remove());
    beforeEach(() => {
      // -a keeps the owner of each file, which may be another user.
      execFileSync('cp', ['-a', made.path, folder.path]);
    });

    test('stops with its last user, and keeps data and address for the next [OPS-1]', async () => {
      const first = await openHere(folder.path);
      await ask(first.url, 'create table kept as select 1 as n');
      const pid = await serverPid(folder.path);
      await first.release();
      assert.equal(isAlive(pid), false);
      await assert.rejects(ask(first.url, 'select 1'), { code: 'ECONNREFUSED' });
      const second = await openHere(folder.path);
      assert.equal(second.url, first.url);
      assert.deepEqual(await ask(second.url, 'select n from kept'), { n: 1 });
      await second.release();
    });

    test('is looked into, and not changed, as docs/operations.md says', async () => {
      const server = await openHere(folder.path);
      await ask(server.url, "create table organisation as select 1 as id, 'Lagos' as name");
      const page = await readFile(join(CHECKOUT, 'docs/operations.md'), 'utf8');
      const chapter = page.split('## Look into the database with SQL')[1]?.split('\n## ')[0];
      const section = chapter?.split('**The embedded database**')[1] ?? '';
      const printed = [...section.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, lines]) => lines).join('');
      // Not every machine has psql. What require finds is looked for beside the file that asks.
      const lines = printed
        .replace(/^psql .*/m, '')
        .replaceAll('data/', `${folder.path}/`)
        .replaceAll('query.cjs', `${folder.path}/query.cjs`)
        .replace("require('pg')", `require('${join(CHECKOUT, 'node_modules/pg')}')`);
      const run = (text: string) => execFileSync('sh', ['-ec', text], { encoding: 'utf8', stdio: 'pipe' });
      assert.match(run(lines), /Lagos/);
      const write = lines.replace('select id, name from organisation', 'delete from organisation');
      assert.throws(() => run(write), /cannot execute DELETE in a read-only transaction/);
      await server.release();
    });

    test('is shared by processes: nobody’s end stops another’s server [CMD-18]', async () => {
      const service = await openElsewhere(folder.path);
      const pid = await serverPid(folder.path);
      const command = await openHere(folder.path);
      assert.equal(command.url, service.url);
      await command.release();
      assert.equal(await serverPid(folder.path), pid);
      const later = await openElsewhere(folder.path);
      assert.equal(await service.release(), 0);
      assert.deepEqual(await ask(later.url, 'select 1 as n'), { n: 1 });
      assert.equal(await later.release(), 0);
      assert.equal(isAlive(pid), false);
    });

    test('serves whoever joins while the last user leaves [CMD-18]', async () => {
      for (let round = 0; round < 5; round += 1) {
        const first = await openHere(folder.path);
        const [, second] = await Promise.all([first.release(), openHere(folder.path)]);
        assert.deepEqual(await ask(second.url, 'select 1 as n'), { n: 1 });
        const [third] = await Promise.all([openHere(folder.path), second.release()]);
        assert.deepEqual(await ask(third.url, 'select 1 as n'), { n: 1 });
        await third.release();
      }
    });

    test('takes another port when its own belongs to something else by now', async () => {
      const first = await openHere(folder.path);
      await first.release();
      const other = createServer().listen(Number(new URL(first.url).port), '127.0.0.1');
      const second = await openHere(folder.path);
      assert.notEqual(second.url, first.url);
      assert.deepEqual(await ask(second.url, 'select 1 as n'), { n: 1 });
      await second.release();
      other.close();
    });

    test('writes neither statements nor values to its log [SEC-23]', async () => {
      const server = await openHere(folder.path);
      await ask(server.url, 'create table person (name text unique, born date)');
      await ask(server.url, 'insert into person values ($1, null)', ['Winnifred']);
      for (const [text, values] of [
        ['insert into person values ($1, null)', ['Winnifred']],
        ['insert into person values ($1, $2)', ['Winnifred', 'Winnifred']],
        [`select 'Winnifred'::integer`, []],
        ['select Winnifred', []],
      ] as const)
        await assert.rejects(ask(server.url, text, [...values]));
      await server.release();
      const log = await readFile(join(folder.path, 'postgresql', 'server.log'), 'utf8');
      assert.doesNotMatch(log, /Winnifred/i);
      assert.match(log, /database system is ready/);
    });

    test('stops what a killed process left, but nothing that is in use', async () => {
      const holder = await openElsewhere(folder.path);
      const pid = await serverPid(folder.path);
      assert.equal(await stopAbandoned(folder.path), false);
      assert.equal(isAlive(pid), true);
      await holder.kill();
      assert.equal(await stopAbandoned(folder.path), true);
      assert.equal(isAlive(pid), false);
    });
  });
});

function canUnshare(): boolean {
  try {
    execFileSync(CONTAINER[0] ?? '', [...CONTAINER.slice(1), 'true'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

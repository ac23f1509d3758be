import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { afterEach, describe, test } from 'node:test';
import pg from 'pg';
import { useTestDatabase } from '../../../test-support/database/database.ts';
import { waitForLock } from '../../../test-support/wait-until.ts';
import { ADVISORY_LOCKS } from './advisory-locks.ts';
import { createPool } from './database.ts';
import { MigrationError, migrate, missingMigrations, SERVICE_ROLE, withClient } from './migrate.ts';
import { findRoleFault } from './service-role.ts';

const pendingMigrations = (url: string) => withClient(url, missingMigrations);

const server = await useTestDatabase();
const admin = await server.connectOwner();

describe('migrate', () => {
  const id = randomBytes(4).toString('hex');
  let cleanUp: string[] = [];

  afterEach(async () => {
    for (const statement of cleanUp.reverse()) await admin.query(statement);
    cleanUp = [];
  });

  /** An empty database, and a login of an ordinary user who owns it. */
  async function emptyDatabase(attributes: string): Promise<string> {
    const [user, name] = [`migrator_${id}`, `empty_${id}`];
    await admin.query(`create role ${user} login password 'secret' ${attributes}`);
    await admin.query(`create database ${name} owner ${user}`);
    cleanUp.push(`drop role ${user}`, `drop database ${name} with (force)`);
    const url = new URL(server.adminUrl);
    [url.username, url.password, url.pathname] = [user, 'secret', `/${name}`];
    return url.href;
  }

  async function query<Row extends pg.QueryResultRow>(url: string, statement: string): Promise<Row[]> {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      return (await client.query<Row>(statement)).rows;
    } finally {
      await client.end();
    }
  }

  test('applies everything once, in order of the names [OPS-5]', async () => {
    const url = await emptyDatabase('superuser');
    const pending = await pendingMigrations(url);
    assert.deepEqual(pending, pending.toSorted());
    assert.ok(pending.length > 0);
    assert.deepEqual(await migrate(url), pending);
    assert.deepEqual(await pendingMigrations(url), []);
    assert.deepEqual(await migrate(url), []);
  });

  test('lets processes that start together apply each migration once [OPS-5]', async () => {
    const url = await emptyDatabase('superuser');
    const pending = await pendingMigrations(url);
    const applied = await Promise.all([migrate(url), migrate(url), migrate(url)]);
    assert.deepEqual(applied.flat(), pending);
  });

  test('refuses a migration that was changed after it was applied [OPS-5]', async () => {
    const url = await emptyDatabase('superuser');
    await migrate(url);
    await query(url, `update schema_migration set checksum = 'other' where name like '0001%'`);
    await assert.rejects(migrate(url), (error: Error) => {
      assert.ok(error instanceof MigrationError);
      assert.match(error.message, /0001-tenancy\.sql was changed after it was applied/);
      return true;
    });
  });

  test('refuses a schema that a newer version made, and changes nothing in it [OPS-6]', async () => {
    const url = await emptyDatabase('superuser');
    await migrate(url);
    await query(url, `delete from schema_migration where name = (select max(name) from schema_migration)`);
    await query(
      url,
      `insert into schema_migration (name, checksum) values ('9998-next.sql', 'x'), ('9999-later.sql', 'x')`,
    );
    const before = await query(url, 'select name from schema_migration order by name');
    for (const refused of [() => migrate(url), () => pendingMigrations(url)])
      await assert.rejects(refused, (error: Error) => {
        assert.ok(error instanceof MigrationError);
        assert.match(error.message, /newer than this version.* 2 migration\(s\).* from 9998-next\.sql on/);
        return true;
      });
    assert.deepEqual(await query(url, 'select name from schema_migration order by name'), before);
  });

  test('leaves nothing of a migration that fails, and goes on after the fault is mended', async () => {
    const url = await emptyDatabase('superuser');
    await query(url, 'create domain role as text');
    await assert.rejects(migrate(url), /Migration 0001-tenancy\.sql failed/);
    assert.deepEqual(await query(url, `select to_regclass('organisation') as found`), [{ found: null }]);
    await query(url, 'drop domain role');
    assert.notDeepEqual(await migrate(url), []);
    assert.deepEqual(await pendingMigrations(url), []);
  });

  test('that is cut off before the service has its rights is not over, and the next run ends it [OPS-6, OPS-8]', async () => {
    const url = await emptyDatabase('superuser');
    let isCutOff = false;
    const before = async (client: pg.ClientBase) => {
      const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
      const query = client.query.bind(client) as (...given: unknown[]) => Promise<unknown>;
      Object.assign(client, {
        async query(...given: unknown[]) {
          if (String(given[0]).includes('grant usage on schema public')) {
            isCutOff = true;
            await admin.query('select pg_terminate_backend($1)', [rows[0]?.pid]);
          }
          return query(...given);
        },
      });
    };
    await assert.rejects(migrate(url, { before, afterEach: async () => undefined }));
    assert.ok(isCutOff);
    const pending = await pendingMigrations(url);
    assert.equal(pending.length, 1, 'no process starts on it');
    assert.deepEqual(await migrate(url), pending);
    assert.equal(await withClient(url, findRoleFault), undefined);
  });

  test('that waits for a table lets others pass, and is applied when the table is free', async () => {
    const url = await emptyDatabase('superuser');
    const pending = await pendingMigrations(url);
    const [dump, other] = [0, 1].map(() => new pg.Client({ connectionString: url }));
    assert.ok(dump && other);
    for (const client of [dump, other]) await client.connect();
    try {
      const table = 'select from organisation';
      let count = 0;
      const afterEach = async (client: pg.ClientBase) => {
        count += 1;
        if (count === 1) return;
        if (count === 2) await dump.query(`begin; ${table}`);
        await client.query('lock table organisation in access exclusive mode');
      };
      const migrating = migrate(url, { before: async () => undefined, afterEach });
      await waitForLock(other, { relation: 'organisation' });
      await other.query(`set statement_timeout = '20s'`);
      await other.query(table);
      await dump.query('rollback');
      assert.deepEqual(await migrating, pending);
      assert.ok(count > pending.length, 'one was tried again');
    } finally {
      for (const client of [dump, other]) await client.end();
    }
  });

  test('changes nothing in a database that has tables of another program by the same names', async () => {
    const url = await emptyDatabase('superuser');
    await query(url, 'create table patient (id integer)');
    await query(url, 'create table account (id integer)');
    const tables = `select relname from pg_class where relnamespace = 'public'::regnamespace order by relname`;
    const found = await query(url, tables);
    await assert.rejects(migrate(url), (error: Error) => {
      assert.ok(error instanceof MigrationError);
      assert.match(
        error.message,
        /another program: account, patient\. Nothing was changed\. Give interchange/,
      );
      return true;
    });
    assert.deepEqual(await query(url, tables), found);
  });

  test('needs no superuser, only the membership that its message names', async () => {
    const url = await emptyDatabase('nosuperuser');
    await assert.rejects(
      migrate(url),
      /may not act as the database role interchange_service\. Run as a superuser: grant interchange_service to <the user of DATABASE_URL>;$/,
    );
    await admin.query(`grant ${SERVICE_ROLE} to migrator_${id}`);
    await migrate(url);
    const pool = createPool({ url, max: 1, applicationName: 'test', role: SERVICE_ROLE }, () => undefined);
    assert.deepEqual((await pool.query('select count(*) from organisation')).rows, [{ count: 0 }]);
    await assert.rejects(pool.query('delete from access_log'), { code: '42501' });
    await pool.end();
  });

  test('gives the service no access to the partitions of the access log, later ones included', async () => {
    await admin.query(
      `create table access_log_later partition of access_log for values from ('2090-01-01') to ('2090-02-01')`,
    );
    await migrate(server.adminUrl);
    for (const table of ['access_log_later', 'access_log_default'])
      await assert.rejects(server.pool.query(`select * from ${table}`), { code: '42501' });
  });

  test('that meets an archive of the access log waits until the month is gone', async () => {
    const url = await emptyDatabase('superuser');
    await migrate(url);
    await query(
      url,
      `create table access_log_2020_01 partition of access_log for values from ('2020-01-01') to ('2020-02-01')`,
    );
    const [archive, looking] = [0, 1].map(() => new pg.Client({ connectionString: url }));
    assert.ok(archive && looking);
    for (const client of [archive, looking]) await client.connect();
    try {
      // As removeMonth does it.
      await archive.query(`begin; select pg_advisory_xact_lock(${ADVISORY_LOCKS.accessLogPartitions})`);
      await archive.query('alter table access_log detach partition access_log_2020_01');
      await archive.query('drop table access_log_2020_01');
      const migrating = migrate(url);
      await waitForLock(looking, { application: 'interchange migrate' });
      await archive.query('commit');
      assert.deepEqual(await migrating, []);
      assert.equal(await withClient(url, findRoleFault), undefined);
    } finally {
      for (const client of [archive, looking]) await client.end();
    }
  });
});

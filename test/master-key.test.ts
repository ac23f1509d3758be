/** A wrong master key is refused by every process, before anything is written or disturbed. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import type pg from 'pg';
import { createMasterKey, wrapDataKey } from '../src/platform/crypto/master-key.ts';
import { SERVICE_ROLE } from '../src/platform/db/migrate.ts';
import { createTestDatabase, type TestDatabase } from '../test-support/database/database.ts';
import { type Clinic, openClinic } from '../test-support/service/clinic-process.ts';
import { runCommand, runProcess } from '../test-support/service/command.ts';
import { verifyIsWhole } from '../test-support/sign-in/master-key.ts';
import { waitUntil } from '../test-support/wait-until.ts';

describe('a wrong master key', { timeout: 300_000 }, () => {
  let database: TestDatabase;
  let owner: pg.Client;
  let clinic: Clinic;

  before(async () => {
    database = await createTestDatabase();
    owner = await database.connectOwner();
    clinic = await openClinic({ DATABASE_URL: database.url, MASTER_KEY: randomBytes(32).toString('hex') });
    await clinic.start();
    await clinic.useEverything();
  });
  after(async () => {
    await clinic?.close();
    await owner.end();
    await database.drop();
  });

  const wrong = () => ({ ...clinic.env, MASTER_KEY: randomBytes(32).toString('hex') });

  /** Every row of every table, by the transaction that wrote it. */
  async function everyRow(of?: string[]): Promise<Record<string, string[]>> {
    const { rows: tables } = await owner.query<{ name: string }>(
      `select format('%I', relname) as name from pg_class
       where relnamespace = 'public'::regnamespace
         and relkind in ('r', 'p')
         and ($1::text[] is null or relname = any($1))
       order by 1`,
      [of],
    );
    const found: Record<string, string[]> = {};
    for (const { name } of tables) {
      const { rows } = await owner.query<{ row: string }>(
        `select xmin::text || ' ' || ctid::text as row from ${name} order by 1`,
      );
      found[name] = rows.map(({ row }) => row);
    }
    return found;
  }

  test('is refused by every command, and nothing is written [OPS-15]', async () => {
    // Nothing of the service's own writes meanwhile.
    await clinic.stop();
    const rowsBefore = await everyRow();
    // Other tests have roles of their own meanwhile.
    const serviceRole = `select * from pg_authid where rolname = '${SERVICE_ROLE}'`;
    const { rows: roles } = await owner.query(serviceRole);
    assert.equal(roles.length, 1);
    const commands = [
      ['organisation', 'create', '--name', 'Other'],
      ['organisation', 'list', '--json'],
      ['account', 'create', ...clinic.place, '--email', 'b@example.org', '--role', 'all', '--setup-link'],
      ['key', 'rotate'],
      [
        'connection',
        'create',
        ...clinic.place.slice(0, 2),
        '--name',
        'b',
        '--address',
        'http://127.0.0.1:1/',
        '--client-id',
        'b',
      ],
      ['connection', 'rotate-secret', '--id', clinic.connectionId],
      ['target', 'create', '--name', 'b', '--base', 'http://127.0.0.1:1/fhir', '--auth', 'none'],
      ['delivery', 'list', '--json'],
      ['patient', 'privacy', ...clinic.place, '--patient', clinic.patientId, '--refuse', 'none'],
      ['access-log', 'verify'],
      ['migrate'],
      ['serve', '--port', '0'],
    ];
    for (const command of commands) {
      // A service that started after all would not end by itself.
      const { code, stdout, stderr } =
        command[0] === 'serve'
          ? await runProcess(command, { env: wrong(), timeoutMs: 60_000 })
          : await runCommand(command, { env: wrong() });
      const name = command.slice(0, 2).join(' ');
      assert.equal(code, 1, `${name}: ${stdout}${stderr}`);
      assert.equal(stdout, '', name);
      assert.match(
        stderr,
        /MASTER_KEY is key [0-9a-f]{16}.*expects.*[0-9a-f]{16}.*Nothing was changed/s,
        name,
      );
      assert.doesNotMatch(stderr, /embedded|master\.key|data folder/, name);
    }
    assert.deepEqual(await everyRow(), rowsBefore);
    assert.deepEqual((await owner.query(serviceRole)).rows, roles);
  });

  test('is refused before a migration is begun, and by a dry run too [OPS-15]', async () => {
    const { rows: newest } = await owner.query<{ name: string; checksum: string }>(
      'delete from schema_migration where name = (select max(name) from schema_migration) returning name, checksum',
    );
    try {
      for (const command of [['migrate'], ['migrate', '--dry-run']]) {
        const { code, stdout, stderr } = await runCommand(command, { env: wrong() });
        assert.deepEqual([code, stdout], [1, ''], command.join(' '));
        assert.match(stderr, /MASTER_KEY is key [0-9a-f]{16}.*Nothing was changed/s);
      }
    } finally {
      for (const { name, checksum } of newest)
        await owner.query('insert into schema_migration (name, checksum) values ($1, $2)', [name, checksum]);
    }
  });

  test('leaves a running service at work, and the access log whole [OPS-15]', async () => {
    await clinic.start();
    for (const command of [
      ['organisation', 'list'],
      ['access-log', 'verify'],
    ]) {
      assert.equal((await runCommand(command, { env: wrong() })).code, 1);
    }
    await clinic.useEverything();
    await verifyIsWhole(clinic);
  });

  test('shows in a running service too, when the database is replaced: it is not ready, and writes nothing there', async () => {
    // Another database has other data keys, and chains of other writers.
    const { rows } = await owner.query('select * from data_key');
    const { rows: writers } = await owner.query('select id, head_seal from access_log_writer');
    await owner.query(`update access_log_writer set head_seal = ''`);
    const other = createMasterKey(randomBytes(32));
    await owner.query('update data_key set master_key_id = $1, wrapped = $2', [
      other.id,
      wrapDataKey(other, 1, randomBytes(32)),
    ]);
    try {
      const ready = await fetch(new URL('/readyz', clinic.baseUrl()));
      assert.equal(ready.status, 503);
      assert.match(await ready.text(), /another master key/);
      const told = /"event":"master-key".*expects master key/;
      await waitUntil(() => told.test(clinic.logs()), 'the log says so');
      // As after a restore: no connection of before.
      await owner.query(`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and application_name like 'interchange%'`);
      const before = await everyRow(['access_log', 'signing_key', 'exchange_secret', 'publish_target']);
      const answer = await waitUntil(
        () => clinic.get('/patients/base?search=Version').catch(() => undefined),
        'the sign-in has a new connection',
      );
      assert.equal(answer.status, 503, await answer.text());
      assert.deepEqual(
        await everyRow(['access_log', 'signing_key', 'exchange_secret', 'publish_target']),
        before,
      );
    } finally {
      for (const { id, head_seal } of writers)
        await owner.query('update access_log_writer set head_seal = $2 where id = $1', [id, head_seal]);
      for (const { master_key_id, wrapped } of rows)
        await owner.query('update data_key set master_key_id = $1, wrapped = $2', [master_key_id, wrapped]);
    }
    await waitUntil(async () => (await fetch(new URL('/readyz', clinic.baseUrl()))).status === 200);
    await clinic.useEverything();
    await verifyIsWhole(clinic);
  });
});

/**
 * `interchange scale-out` against a schema that has the names of Citus' functions and writes down what it is asked. That
 * shows order, arguments, refusals and restarts; it proves nothing of Citus itself.
 */
import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { afterEach, beforeEach, test } from 'node:test';
import pg from 'pg';
import { createTestDatabase, type TestDatabase } from '../../../test-support/database/database.ts';
import { needsPlainPostgres } from '../../../test-support/database/plain-postgres.ts';
import { callsOf, HOLD_LOCK, recordCitus } from '../../../test-support/database/recorded-citus.ts';
import { type CommandResult, runCommand, startCommand } from '../../../test-support/service/command.ts';
import { waitForLock, waitUntil } from '../../../test-support/wait-until.ts';
import { DISTRIBUTED_TABLES, REFERENCE_TABLES } from './placement.ts';

const RECORDED = needsPlainPostgres('a schema stands in for the functions of Citus');
const TABLES = [...REFERENCE_TABLES, ...DISTRIBUTED_TABLES];
const PATIENTS = 3;

let database: TestDatabase;
let env: Record<string, string>;
/** The owner of the schema, who is a superuser. */
let owner: pg.Client;

beforeEach(async () => {
  database = await createTestDatabase();
  await recordCitus(database.url);
  env = { DATABASE_URL: database.url, MASTER_KEY: randomBytes(32).toString('hex') };
  owner = new pg.Client({ connectionString: database.url, application_name: 'test owner' });
  await owner.connect();
  await insertPatients();
});
afterEach(async () => {
  await owner.end();
  await database.drop();
});

async function insertPatients(): Promise<void> {
  const organisation = randomUUID();
  await owner.query(`insert into organisation (id, name) values ($1, 'Lagos Hospitals')`, [organisation]);
  await owner.query(
    `insert into patient (organisation_id, id, content_digest)
     select $1, gen_random_uuid(), '' from generate_series(1, $2)`,
    [organisation, PATIENTS],
  );
}

function scaleOut(...args: string[]): Promise<CommandResult> {
  return runCommand(['scale-out', ...args], { env });
}

function document({ stdout }: CommandResult): ReturnType<typeof JSON.parse> {
  return JSON.parse(stdout);
}

async function count(table: string): Promise<number> {
  const { rows } = await owner.query<{ count: string }>(`select count(*) from ${table}`);
  return Number(rows[0]?.count);
}

/** The calls that place tables, each as the name of the function and the table. */
async function placed(): Promise<string[]> {
  return (await callsOf(owner)).filter((call) => call.startsWith('create_'));
}

function expectedCall(table: string): string {
  if (REFERENCE_TABLES.some((name) => name === table)) return `create_reference_table(${table})`;
  const coLocateWith = table === 'facility' ? 'none' : 'facility';
  return `create_distributed_table(${table}, organisation_id, colocate_with => ${coLocateWith}) off sequential 1`;
}

test(
  'every table is placed by the list, and its rows leave the coordinator last [OPS-27]',
  RECORDED,
  async () => {
    const { code, stdout, stderr } = await scaleOut();
    assert.equal(code, 0, stderr);
    assert.match(
      stdout,
      /What to do next:[\s\S]*analyze;[\s\S]*Start the service[\s\S]*--check[\s\S]*Back up every node/,
    );
    assert.match(
      stderr,
      new RegExp(`\\[1 of ${TABLES.length}\\] organisation, [0-9.]+ kB: a reference table`),
    );
    const calls = await callsOf(owner);
    assert.deepEqual(calls.slice(0, TABLES.length), TABLES.map(expectedCall));
    assert.ok(calls.length > TABLES.length);
    for (const call of calls.slice(TABLES.length))
      assert.match(call, /^truncate_local_data_after_distributing_table\(\w+\)$/);
    assert.equal(await count('recorded_citus.shard_of_patient'), PATIENTS);
    assert.equal(await count('patient'), 0, 'nothing is left on the coordinator');

    const again = await scaleOut();
    assert.equal(again.code, 0, again.stderr);
    assert.match(again.stdout, /Nothing to do/);
    assert.deepEqual(await callsOf(owner), calls);
    const checked = await scaleOut('--check', '--json');
    assert.deepEqual([checked.code, document(checked)], [0, { ok: true, problems: [], differences: [] }]);
  },
);

test('a dry run names the tables with their rows, and places none [CMD-23]', RECORDED, async () => {
  const text = await scaleOut('--dry-run');
  assert.equal(text.code, 0, text.stderr);
  assert.match(
    text.stdout,
    new RegExp(`${PATIENTS} rows +[0-9.]+ kB  patient: distributed by organisation_id`),
  );
  const { dryRun, tables, placedBefore } = document(await scaleOut('--dry-run', '--json'));
  assert.deepEqual([dryRun, placedBefore], [true, 0]);
  assert.deepEqual(
    tables.map(({ table }: { table: string }) => table),
    TABLES,
  );
  const patient = tables.find(({ table }: { table: string }) => table === 'patient');
  assert.deepEqual([patient.placement, patient.rows], ['distributed', PATIENTS]);
  assert.ok(patient.sizeBytes > 0);
  assert.deepEqual(await callsOf(owner), []);
});

/** Kills a run that does this. Its statement stays under way in the database until `owner` unlocks. */
async function killAt(step: string): Promise<void> {
  await owner.query('select pg_advisory_lock($1)', [HOLD_LOCK]);
  await owner.query('insert into recorded_citus.held values ($1)', [step]);
  const killed = startCommand(['scale-out'], { env });
  await waitForLock(database.pool, { application: 'interchange scale-out' });
  killed.child.kill('SIGKILL');
  await killed.ended;
}

test('a run that is killed between two tables goes on where it stopped [OPS-27]', RECORDED, async () => {
  await killAt('patient');
  const before = await placed();
  assert.deepEqual(before, TABLES.slice(0, TABLES.indexOf('patient')).map(expectedCall));
  const half = await scaleOut('--check', '--json');
  assert.equal(half.code, 1);
  assert.equal(
    document(half).differences.length - document(half).differences.filter(isLeftover).length,
    TABLES.length - before.length,
  );

  // The statement of the killed run is still under way in the database: the next run waits for its end.
  const next = startCommand(['scale-out', '--json'], { env });
  await waitUntil(() => /Waiting for it to end/.test(next.output().stderr), 'the second run waits');
  await owner.query('select pg_advisory_unlock($1)', [HOLD_LOCK]);
  const { code, stdout, stderr } = await next.ended;
  assert.equal(code, 0, stderr);
  assert.match(stderr, /tables were placed before\. Going on with the other/);
  const { placed: names, placedBefore } = JSON.parse(stdout);
  assert.equal(names.length + placedBefore, TABLES.length);
  assert.deepEqual(await placed(), TABLES.map(expectedCall), 'each once, in order');
  assert.equal(await count('recorded_citus.shard_of_patient'), PATIENTS);
  assert.equal(await count('patient'), 0);
});

for (const step of ['organisation', 'facility', 'access_log', 'rows of organisation', 'rows of patient'])
  test(
    `a run that is killed at ${step} loses nothing, and the next one ends it [OPS-27]`,
    RECORDED,
    async () => {
      await killAt(step);
      const next = startCommand(['scale-out'], { env });
      await waitUntil(() => /Waiting for it to end/.test(next.output().stderr), 'the second run waits');
      await owner.query('select pg_advisory_unlock($1)', [HOLD_LOCK]);
      const { code, stderr } = await next.ended;
      assert.equal(code, 0, stderr);
      assert.deepEqual(await placed(), TABLES.map(expectedCall), 'each once, in order');
      for (const [table, rows] of [
        ['organisation', 1],
        ['patient', PATIENTS],
      ] as const)
        assert.deepEqual([await count(`recorded_citus.shard_of_${table}`), await count(table)], [rows, 0]);
      assert.equal((await scaleOut('--check')).code, 0);
    },
  );

test(
  'a run that ends before it removed the rows left behind does so the next time [OPS-27]',
  RECORDED,
  async () => {
    assert.equal((await scaleOut()).code, 0);
    // As if it had been killed just before: the rows were copied, and are still here.
    await owner.query(
      'insert into organisation (id, name) select id, name from recorded_citus.shard_of_organisation',
    );
    await owner.query('insert into patient select * from recorded_citus.shard_of_patient');
    const checked = await scaleOut('--check');
    assert.equal(checked.code, 1);
    assert.match(checked.stdout, /patient: rows are left on the coordinator/);
    const again = await scaleOut();
    assert.equal(again.code, 0, again.stderr);
    assert.equal(await count('patient'), 0);
    assert.equal((await scaleOut('--check')).code, 0);
  },
);

test(
  'a table that cannot be placed ends the run with its name; the next run begins with it [OPS-27]',
  RECORDED,
  async () => {
    await owner.query('create table recorded_citus.shard_of_role ()');
    const failed = await scaleOut();
    assert.equal(failed.code, 1);
    assert.match(failed.stderr, /Table role was not placed \(42P07\)\..*it goes on with this table/);
    await owner.query('drop table recorded_citus.shard_of_role');
    assert.equal((await scaleOut()).code, 0);
    assert.deepEqual(await placed(), TABLES.map(expectedCall));
  },
);

const REFUSALS: [name: string, make: string, message: RegExp][] = [
  [
    'no extension',
    `delete from pg_extension where extname = 'citus'`,
    /no extension citus.*create extension citus/,
  ],
  [
    'an old extension',
    `update pg_extension set extversion = '12.1-1' where extname = 'citus'`,
    /Citus 12\.1-1 is too old/,
  ],
  [
    'a worker as DATABASE_URL',
    'update recorded_citus.pg_dist_local_group set groupid = 1',
    /the URL of the coordinator/,
  ],
  [
    'no worker',
    'delete from recorded_citus.pg_dist_node where groupid > 0',
    /no active worker.*citus_add_node/,
  ],
  [
    'an inactive node',
    `update recorded_citus.pg_dist_node set isactive = false where nodeport = 5434`,
    /worker-2:5434 is not active/,
  ],
  [
    'a node that is down',
    `insert into recorded_citus.refused_node values (5433, 'any')`,
    /cannot sign in on node worker-1:5433 as the user/,
  ],
  [
    'a role of the service that may not sign in',
    `insert into recorded_citus.refused_node values (5434, 'interchange_service')`,
    /worker-2:5434 as interchange_service.*alter role interchange_service login/,
  ],
  [
    'a role of the service without rights',
    'revoke select on organisation from interchange_service',
    /interchange_service has no rights in this database.*npx interchange migrate/,
  ],
  [
    'missing migrations',
    `delete from schema_migration where name like '0122%'`,
    /1 migration\(s\) are missing.*migrate/,
  ],
  [
    'a table that is not ours',
    'create table somebodys (id integer)',
    /Table somebodys is not one of the service/,
  ],
  [
    'a table that was placed otherwise',
    `insert into recorded_citus.pg_dist_partition values ('patient', 'h', 'id', 7, 's')`,
    /Table patient should be distributed by organisation_id, and is distributed by id.*undistribute_table/,
  ],
];

for (const [name, make, message] of REFUSALS)
  test(`${name} is refused before any table moves, with what to do [CMD-23]`, RECORDED, async () => {
    await owner.query('set allow_system_table_mods = on');
    await owner.query(make);
    for (const args of [[], ['--dry-run']]) {
      const { code, stderr } = await scaleOut(...args);
      assert.equal(code, 1);
      assert.match(stderr, message);
    }
    assert.deepEqual(await callsOf(owner), []);
    assert.equal((await scaleOut('--check')).code, 1);
  });

test('a check of one PostgreSQL names what is missing, and no table [CMD-23]', RECORDED, async () => {
  await owner.query(`delete from pg_extension where extname = 'citus'`);
  const checked = await scaleOut('--check', '--json');
  const { ok, problems, differences } = document(checked);
  assert.deepEqual([checked.code, ok, problems.length, differences], [1, false, 1, []]);
});

test('every fault of the cluster is named at once [CMD-23]', RECORDED, async () => {
  await owner.query(
    `insert into recorded_citus.refused_node values (5433, 'any'), (5434, 'interchange_service')`,
  );
  await owner.query('create table somebodys (id integer)');
  const { stderr } = await scaleOut();
  assert.match(stderr, /worker-1:5433[\s\S]*worker-2:5434[\s\S]*somebodys/);
});

test('a user who does not own the tables is refused [CMD-23]', RECORDED, async () => {
  const role = `stranger_${randomBytes(4).toString('hex')}`;
  await owner.query(`create role ${role} login password 'x' in role interchange_service, pg_read_all_data`);
  try {
    const url = Object.assign(new URL(database.url), { username: role, password: 'x' }).href;
    const { code, stderr } = await runCommand(['scale-out'], { env: { ...env, DATABASE_URL: url } });
    assert.equal(code, 1);
    assert.match(stderr, new RegExp(`does not own ${TABLES.length} table\\(s\\)`));
  } finally {
    await owner.query(`drop role ${role}`);
  }
});

test('tables do not move while the service is connected [CMD-23]', RECORDED, async () => {
  const service = new pg.Client({ connectionString: database.url, application_name: 'interchange live' });
  await service.connect();
  const { code, stderr } = await scaleOut();
  assert.equal(code, 1);
  assert.match(stderr, /connected to the database: interchange live \(1\).*Stop every process/);
  assert.deepEqual(await callsOf(owner), []);
  assert.equal((await scaleOut('--dry-run')).code, 0, 'which changes nothing');
  const ended = once(service, 'end');
  await service.end();
  await ended;
  await waitUntil(async () => (await scaleOut()).code === 0, 'the service is gone');
});

test(
  'nothing works on a database whose move is not finished but the move itself [OPS-27]',
  RECORDED,
  async () => {
    await owner.query('create table recorded_citus.shard_of_patient ()');
    assert.equal((await scaleOut()).code, 1);
    await owner.query('drop table recorded_citus.shard_of_patient');
    for (const args of [['organisation', 'list'], ['migrate']]) {
      const { code, stderr } = await runCommand(args, { env });
      assert.equal(code, 1);
      assert.match(stderr, /are being moved to the nodes.*Finish that first.*npx interchange scale-out/);
    }
    assert.equal((await scaleOut()).code, 0);
    assert.equal((await runCommand(['organisation', 'list'], { env })).code, 0);
  },
);

test(
  'a check names each table that lies elsewhere than it should, and changes nothing [CMD-23]',
  RECORDED,
  async () => {
    assert.equal((await scaleOut()).code, 0);
    await owner.query(`
    update recorded_citus.pg_dist_partition set colocationid = 9 where logicalrelid = 'patient'::regclass;
    update recorded_citus.pg_dist_partition set partkey = 'id' where logicalrelid = 'role'::regclass;
    update recorded_citus.pg_dist_partition set partmethod = 'h', partkey = 'id', repmodel = 's' where logicalrelid = 'organisation'::regclass;
    delete from recorded_citus.pg_dist_partition where logicalrelid = 'session'::regclass;
    insert into recorded_citus.pg_dist_partition values ('signing_key', 'n', null, 1, 't')`);
    const calls = await callsOf(owner);
    const checked = await scaleOut('--check', '--json');
    assert.equal(checked.code, 1);
    const { ok, problems, differences } = document(checked);
    assert.deepEqual([ok, problems], [false, []]);
    const actual = Object.fromEntries(
      differences.map((one: { table: string; actual: string }) => [one.table, one.actual]),
    );
    assert.deepEqual(actual, {
      organisation: 'distributed by id',
      patient: 'distributed by organisation_id, but not co-located with facility',
      role: 'distributed by id',
      session: 'on the coordinator',
      signing_key: 'a reference table',
    });
    assert.deepEqual(await callsOf(owner), calls);
    const text = await scaleOut('--check');
    assert.match(text.stdout, /session: on the coordinator; should be distributed by organisation_id/);
    assert.match(text.stdout, /npx interchange scale-out/);
  },
);

test('a month that was taken out of the access log stays on the coordinator [OPS-27]', RECORDED, async () => {
  await owner.query('create table access_log_archived_2026_01_1 (like access_log)');
  assert.equal((await scaleOut()).code, 0);
  assert.equal((await scaleOut('--check')).code, 0);
});

test('a migration on a distributed database places the table that it makes [OPS-28]', RECORDED, async () => {
  assert.equal((await scaleOut()).code, 0);
  await forgetPatientLinks();
  await owner.query(`
    create function recorded_citus.note() returns event_trigger language plpgsql as $$
    begin
      insert into recorded_citus.call (call)
      select concat_ws(' ', 'made with', current_setting('citus.enable_local_reference_table_foreign_keys', true),
        current_setting('citus.multi_shard_modify_mode', true))
      from pg_event_trigger_ddl_commands()
      where command_tag = 'CREATE TABLE' and object_identity = 'public.patient_link';
    end $$;
    create event trigger note on ddl_command_end when tag in ('create table') execute function recorded_citus.note()`);
  const before = (await callsOf(owner)).length;
  const { code, stderr } = await runCommand(['migrate'], { env });
  assert.equal(code, 0, stderr);
  assert.deepEqual(
    (await callsOf(owner)).slice(before),
    ['made with off sequential', expectedCall('patient_link')],
    'the statements of a migration run as those that place tables',
  );
  assert.equal((await scaleOut('--check')).code, 0);
});

test('a migration whose table cannot be placed is not applied [OPS-28]', RECORDED, async () => {
  assert.equal((await scaleOut()).code, 0);
  await forgetPatientLinks();
  await owner.query('create table recorded_citus.shard_of_patient_link ()');
  const { code, stderr } = await runCommand(['migrate'], { env });
  assert.equal(code, 1);
  assert.match(stderr, /Migration 0120-patient-links\.sql failed: Table patient_link was not placed/);
  const { rows } = await owner.query(
    `select to_regclass('patient_link') as name, (select count(*)::integer from schema_migration where name like '0120%') as applied`,
  );
  assert.deepEqual(rows, [{ name: null, applied: 0 }]);
});

test('a distributed database with a table in no list is not migrated [OPS-28]', RECORDED, async () => {
  assert.equal((await scaleOut()).code, 0);
  await owner.query('create table somebodys (id integer)');
  const { code, stderr } = await runCommand(['migrate'], { env });
  assert.equal(code, 1);
  assert.match(stderr, /Table somebodys is not one of the service/);
});

test('a distributed database has a table until the migration that drops it [OPS-28]', RECORDED, async () => {
  await owner.query('create table exchange_queue_count (organisation_id uuid)');
  assert.equal((await scaleOut()).code, 0);
  await owner.query(`delete from schema_migration where name like '0226%'`);
  const { code, stderr } = await runCommand(['migrate'], { env });
  assert.equal(code, 0, stderr);
  assert.deepEqual((await owner.query(`select to_regclass('exchange_queue_count') as name`)).rows, [
    { name: null },
  ]);
  assert.equal((await scaleOut('--check')).code, 0);
});

test(
  'without Citus there is nothing to place: a new table stays where it is [OPS-28]',
  RECORDED,
  async () => {
    await owner.query('drop schema recorded_citus cascade');
    await owner.query(`drop table patient_link; delete from schema_migration where name like '0120%'`);
    const { code, stderr } = await runCommand(['migrate'], { env });
    assert.equal(code, 0, stderr);
  },
);

test('the embedded database is refused, and so are two ways at once [CMD-23]', RECORDED, async () => {
  const embedded = await runCommand(['scale-out'], { env: {} });
  assert.equal(embedded.code, 1);
  assert.match(embedded.stderr, /embedded PostgreSQL cannot be distributed.*DATABASE_URL/);
  const both = await scaleOut('--check', '--dry-run');
  assert.equal(both.code, 2);
});

/** As in the version of the service before the migration that makes this table. */
async function forgetPatientLinks(): Promise<void> {
  await owner.query(`
    delete from recorded_citus.pg_dist_partition where logicalrelid = 'patient_link'::regclass;
    drop table recorded_citus.shard_of_patient_link;
    drop table patient_link;
    delete from schema_migration where name like '0120%'`);
}

function isLeftover({ actual }: { actual: string }): boolean {
  return actual === 'rows are left on the coordinator';
}

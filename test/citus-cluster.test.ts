/**
 * How tests get databases on a Citus cluster (TEST_CITUS_URL), against a PostgreSQL with functions that have Citus' names
 * and write down what they are asked. It proves the order of the work, nothing of Citus itself.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { after, before, test } from 'node:test';
import { createPool, type Pool } from '../src/platform/db/database.ts';
import { SERVICE_ROLE } from '../src/platform/db/migrate.ts';
import {
  cloneDistributed,
  createDistributedTemplate,
  dropDistributed,
  watchNodes,
} from '../test-support/database/citus-cluster.ts';
import { makeDataDir, openHere } from '../test-support/database/embedded.ts';
import { callsOf, recordCitus } from '../test-support/database/recorded-citus.ts';
import { administer, databaseUrl } from '../test-support/database/template.ts';
import { waitUntil } from '../test-support/wait-until.ts';

const WORKERS = ['worker-1:5433', 'worker-2:5434'];

let folder: Awaited<ReturnType<typeof makeDataDir>>;
let server: Awaited<ReturnType<typeof openHere>>;
/** The URL of the database that knows the workers. */
let url: string;
let cluster: Pool;

before(async () => {
  folder = await makeDataDir();
  server = await openHere(folder.path);
  url = server.url;
  // Every new database is a copy of template1, as it has the extension where an operator puts it there.
  await recordCitus(databaseUrl(url, 'template1'));
  await administer(url, ['alter role all set search_path = public, recorded_citus']);
  await recordCitus(url);
  cluster = createPool({ url, max: 1, applicationName: 'test' }, () => undefined);
});
after(async () => {
  await cluster.end();
  await server.release();
  await folder.remove();
});

test('a database for tests is made once, distributed, and copied and dropped on every node', async () => {
  await createDistributedTemplate(url, 'template_one');
  const joined = await callsIn('template_one', { sealed: true });
  assert.deepEqual(joined.slice(0, 5), [
    'citus_set_coordinator_host(coordinator, 5432)',
    `${WORKERS[0]}> create extension if not exists citus`,
    'citus_add_node(worker-1, 5433)',
    `${WORKERS[1]}> create extension if not exists citus`,
    'citus_add_node(worker-2, 5434)',
  ]);
  assert.match(joined[5] ?? '', /^create_reference_table\(organisation\)/);

  await cloneDistributed(url, 'test_one', 'template_one');
  assert.ok((await callsIn('test_one')).includes('create_reference_table(organisation)'), 'placed already');
  const { rows } = await cluster.query(`select rolcanlogin from pg_roles where rolname = '${SERVICE_ROLE}'`);
  assert.deepEqual(rows, [{ rolcanlogin: true }]);

  await dropDistributed(url, 'test_one');
  await dropDistributed(url, 'template_one');
  const left = await cluster.query(`select from pg_database where datname in ('test_one', 'template_one')`);
  assert.equal(left.rowCount, 0);

  const onWorkers = (await callsOf(cluster)).filter((call) => !/role/.test(call));
  assert.deepEqual(
    onWorkers,
    [
      'create database template_one',
      'alter database template_one with allow_connections false',
      `select count(pg_terminate_backend(pid)) from pg_stat_activity where datname = 'template_one'`,
      'create database test_one template template_one strategy file_copy',
      'drop database if exists test_one with (force)',
      'drop database if exists template_one with (force)',
    ].flatMap((statement) => WORKERS.map((worker) => `${worker}> ${statement}`)),
  );
});

test('a worker that refuses a statement is named, with what it said', async () => {
  await cluster.query(`insert into recorded_citus.refused_node values (5434, 'statements')`);
  await assert.rejects(
    createDistributedTemplate(url, 'template_two'),
    /worker-2:5434 refused: [\s\S]*the disk is full/,
  );
  await cluster.query('delete from recorded_citus.refused_node');
  await dropDistributed(url, 'template_two');
});

test('a cluster without workers is refused', async () => {
  await cluster.query('update recorded_citus.pg_dist_node set isactive = false');
  await assert.rejects(createDistributedTemplate(url, 'template_three'), /knows no active worker/);
  await cluster.query('update recorded_citus.pg_dist_node set isactive = true');
});

test('who waits for a row on a node is found, by name and by whom they wait for', async () => {
  const [holder, waiter] = ['holder', 'waiter'].map((name) =>
    createPool({ url, max: 1, applicationName: name }, () => undefined),
  ) as [Pool, Pool];
  const nodes = await watchNodes(url, cluster);
  const held = await holder.connect();
  try {
    await cluster.query('create table thing (id integer primary key)');
    await held.query('begin; insert into thing values (1)');
    const { rows } = await held.query<{ pid: number }>('select pg_backend_pid() as pid');
    const blockedBy = rows[0]?.pid ?? 0;
    assert.equal(await nodes.waits({}), false);
    const waiting = waiter.query('insert into thing values (1)').catch(() => undefined);
    await waitUntil(() => nodes.waits({}), 'the other waits');
    assert.equal(await nodes.waits({ application: 'wait%', blockedBy }), true);
    assert.equal(await nodes.waits({ application: 'hold%' }), false);
    assert.equal(await nodes.waits({ blockedBy: blockedBy + 1 }), false);
    await held.query('commit');
    await waiting;
  } finally {
    held.release();
    await Promise.all([holder.end(), waiter.end(), nodes.close()]);
  }
});

test('a test that needs plain PostgreSQL is left out on a cluster, with its reason, and nowhere else', () => {
  const helper = new URL('../test-support/database/plain-postgres.ts', import.meta.url).href;
  const program = `import { needsPlainPostgres } from '${helper}';
    process.stdout.write(JSON.stringify(needsPlainPostgres('it reads plans')))`;
  const { TEST_CITUS_URL: _, ...environment } = process.env;
  const options = (more: Record<string, string>) => {
    const args = ['--input-type=module', '--eval', program];
    const { stdout } = spawnSync(process.execPath, args, { env: { ...environment, ...more } });
    return JSON.parse(stdout.toString()) as unknown;
  };
  assert.deepEqual(options({ TEST_CITUS_URL: 'postgres://coordinator' }), { skip: 'it reads plans' });
  assert.deepEqual(options({}), {});
});

/** What the functions in that database were asked. */
async function callsIn(name: string, { sealed = false } = {}): Promise<string[]> {
  if (sealed) await administer(url, [`alter database ${name} with allow_connections true`]);
  const pool = createPool({ url: databaseUrl(url, name), max: 1, applicationName: 'test' }, () => undefined);
  try {
    return await callsOf(pool);
  } finally {
    await pool.end();
    if (sealed) await administer(url, [`alter database ${name} with allow_connections false`]);
  }
}

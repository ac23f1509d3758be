/** One organisation whose part of the database does not answer delays its own deliveries, and nobody else's. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import pg from 'pg';
import { buildDeliveries } from '../src/app/build-worker.ts';
import type { CreatedConnection } from '../src/exchange/connections/connection.schema.ts';
import type { DeliveryWorker } from '../src/exchange/worker/delivery-worker.ts';
import { ONE_FAILS, prepareFaults } from '../test-support/database/failing-organisation.ts';
import { connect, insertPatients, queue, rename } from '../test-support/exchange/exchange-records.ts';
import { startExchange, type TestExchange } from '../test-support/exchange/exchange-server.ts';
import { type Tenant, useEmptyApi } from '../test-support/service/api.ts';
import { waitUntil } from '../test-support/wait-until.ts';

let worker: DeliveryWorker;
let exchange: TestExchange;
let failing: Tenant;
let well: Tenant;

const api = await useEmptyApi({
  env: { DELIVERY_POLL_MS: '50', DELIVERY_RETRY_SECONDS: '0.05,0.05,0.05,0.05' },
});
const faults = await prepareFaults(api.database);
beforeEach(async () => {
  exchange = await startExchange();
  failing = await api.createTenant();
  well = await api.createTenant();
  for (const tenant of [failing, well]) await connectTo(tenant);
  worker = buildDeliveries(api.runtime);
});
afterEach(async () => {
  await faults.mend(failing.organisationId);
  await worker.stop();
  await exchange.close();
});

const pool = () => api.database.pool;
function connectTo(tenant: Tenant): Promise<CreatedConnection> {
  return connect({ pool: pool(), keys: api.keys }, tenant, { address: exchange.url });
}
const queueOne = async (tenant: Tenant): Promise<string> => {
  const [patientId = ''] = await insertPatients(pool(), tenant, 1);
  await queue(pool(), tenant, [patientId]);
  return patientId;
};
const arrivedOf = (patientId: string) =>
  exchange.arrivals.filter(({ envelope }) => envelope.resource.id === patientId);
const arrives = (patientId: string) =>
  waitUntil(() => arrivedOf(patientId).length > 0, `patient ${patientId} is delivered`);
const isDone = (tenant: Tenant) =>
  waitUntil(async () => {
    const { rowCount } = await pool().query('select from exchange_head where organisation_id = $1', [
      tenant.organisationId,
    ]);
    return rowCount === 0;
  }, 'nothing waits');
const failingIds = () => api.runtime.work.failing().get('deliveries') ?? [];
const logged = (event: string, { organisationId }: Tenant) =>
  api
    .logs()
    .split('\n')
    .filter((line) => line.includes(`"event":"${event}"`) && line.includes(organisationId)).length;
async function refusedAgain(times: number): Promise<void> {
  const before = await faults.refusals();
  await waitUntil(async () => (await faults.refusals()) >= before + times, 'the worker tries again');
}

describe('deliveries while the database refuses one organisation', ONE_FAILS, () => {
  const TABLES = [
    undefined,
    'exchange_connection',
    'exchange_circuit',
    'exchange_head',
    'exchange_delivery',
    'exchange_attempt',
    'exchange_secret',
    'facility_module',
    'access_log',
  ];
  for (const table of TABLES)
    test(`others go on, and it is delivered once it is mended: ${table ?? 'all tables'} [OPS-29]`, async () => {
      const [patientId = ''] = await insertPatients(pool(), failing, 1);
      await queue(pool(), failing, [patientId]);
      for (const name of ['A', 'B']) await rename(pool(), failing, [patientId], name);
      await faults.fail(failing.organisationId, table);
      worker.start();
      await refusedAgain(1);
      for (let count = 0; count < 3; count += 1) await arrives(await queueOne(well));
      await isDone(well);
      const work = table === 'access_log' ? 'access-log' : 'deliveries';
      assert.deepEqual(api.runtime.work.failing().get(work), [failing.organisationId]);
      await faults.mend(failing.organisationId);
      await isDone(failing);
      const sequences = arrivedOf(patientId).map(({ envelope }) => envelope.sequence);
      assert.deepEqual(
        [...new Set(sequences)],
        [1, 2, 3],
        'in order; one that was not written down may come twice',
      );
      await waitUntil(() => failingIds().length === 0, 'the work is done again');
    });

  test('it is told once in the log, not at each try, and named in the metrics while it lasts [OPS-29]', async () => {
    await queueOne(failing);
    await faults.fail(failing.organisationId);
    worker.start();
    await refusedAgain(3);
    assert.equal(logged('organisation-work.failing', failing), 1);
    const metric = `interchange_organisation_work_failing{work="deliveries",organisation="${failing.organisationId}"} 1`;
    assert.ok((await api.runtime.metrics.registry.metrics()).includes(metric));
    await faults.mend(failing.organisationId);
    await isDone(failing);
    await waitUntil(() => failingIds().length === 0, 'the work is done again');
    assert.equal(logged('organisation-work.done-again', failing), 1);
    assert.ok(!(await api.runtime.metrics.registry.metrics()).includes(metric));
  });
});

test('workers are called for all organisations once calls may have been lost [EXC-55]', async () => {
  const calls: (string | undefined)[] = [];
  const stopListening = api.runtime.listen((organisationId) => calls.push(organisationId));
  const owner = new pg.Client({ connectionString: api.database.adminUrl });
  await owner.connect();
  await owner.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and application_name like 'interchange live%'`,
  );
  await owner.end();
  await waitUntil(() => calls.includes(undefined), 'the connection listens again');
  stopListening();
});

describe('deliveries while organisations hang', ONE_FAILS, () => {
  let hung: Tenant[];
  beforeEach(async () => {
    hung = await Promise.all(Array.from({ length: 6 }, () => api.createTenant()));
    for (const tenant of hung) {
      await connectTo(tenant);
      await faults.hang(tenant.organisationId, 'exchange_connection');
    }
  });
  afterEach(async () => {
    for (const { organisationId } of hung) await faults.mend(organisationId);
  });
  const hangs = () => waitUntil(async () => (await faults.hanging()).length > 0, 'a look hangs');

  test('others go on, and each of those is tried again [OPS-29]', async () => {
    worker.start();
    await hangs();
    await arrives(await queueOne(well));
    await waitUntil(() => failingIds().length === hung.length, 'each of them is named');
    await hangs();
    await arrives(await queueOne(well));
    for (const { organisationId } of hung) await faults.mend(organisationId);
    await waitUntil(() => failingIds().length === 0, 'the work is done again');
  });

  test('a worker stops while they hang [OPS-29]', async () => {
    const stopping = buildDeliveries(api.runtime);
    stopping.start();
    await hangs();
    await stopping.stop();
  });
});

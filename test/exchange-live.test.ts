/** What is decided while deliveries wait holds for each of them: it is asked again just before a request is written. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { buildDeliveries } from '../src/app/build-worker.ts';
import type { DeliveryWorker } from '../src/exchange/worker/delivery-worker.ts';
import { setModules } from '../src/tenancy/organisations/facilities.ts';
import { connect, insertPatients, queue } from '../test-support/exchange/exchange-records.ts';
import { startExchange, type TestExchange } from '../test-support/exchange/exchange-server.ts';
import { type Tenant, type TestAccount, useEmptyApi } from '../test-support/service/api.ts';
import { waitUntil } from '../test-support/wait-until.ts';

let tenant: Tenant;
let account: TestAccount;
let exchange: TestExchange;
let worker: DeliveryWorker;
/** Connection with one request in flight at most. */
let connectionId: string;
let patients: string[];
/** Lets the first request be answered. */
let go: () => void;

const api = await useEmptyApi({
  env: { DELIVERY_POLL_MS: '250', DELIVERY_RETRY_SECONDS: '0.05,0.05,0.05' },
});
beforeEach(async () => {
  api.clock.now = new Date();
  tenant = await api.createTenant();
  account = await api.createAccount(tenant);
  exchange = await startExchange();
  const gate = Promise.withResolvers<void>();
  go = gate.resolve;
  exchange.behave = () => ({ status: 200, after: gate.promise });
  connectionId = (await connectTo(exchange.url, { maxInFlight: 1 })).id;
  patients = await insertPatients(pool(), tenant, 4);
  await queue(pool(), tenant, patients);
  worker = buildDeliveries(api.runtime);
});
afterEach(async () => {
  go();
  await worker.stop();
  await pool().query('update exchange_connection set disabled_at = now() where organisation_id = $1', [
    tenant.organisationId,
  ]);
  await exchange.close();
});

const pool = () => api.database.pool;
const connectTo = (address: string, more: { maxInFlight?: number; timeoutMs?: number }) =>
  connect({ pool: pool(), keys: api.keys }, tenant, { address, ...more });
const call = async (method: string, path: string, body?: unknown) => {
  const answer = await api.call(path, { method, token: account.token, body });
  assert.ok(answer.status < 300, answer.text);
  return answer;
};
const refuse = (patientId: string, refusedPurposes = ['OPS']) =>
  call('PUT', `/patients/base/${patientId}/privacy`, { refusedPurposes });

/** The first request is under way, and the access of all others is logged: they wait for nothing but their turn. */
async function allWait(): Promise<string[]> {
  worker.start();
  await exchange.waitFor(1);
  await until('all wait', async () => (await deliverEntries()).length === patients.length);
  return patients.filter((id) => !arrived().includes(id));
}
const arrived = (at = exchange) => at.arrivals.map(({ envelope }) => envelope.resource.id);

async function deliverEntries() {
  const { rows } = await pool().query<{ patient_id: string; outcome: string }>(
    `select patient_id, outcome from access_log
     where organisation_id = $1 and action = 'patient.deliver' order by sequence`,
    [tenant.organisationId],
  );
  return rows;
}
async function heads() {
  const { rows } = await pool().query<{
    patient_id: string;
    held_reason: string | null;
    parked_facility_id: string | null;
    lease_token: string | null;
    attempts: number;
  }>('select * from exchange_head where organisation_id = $1', [tenant.organisationId]);
  return rows;
}
async function outcomes(patientId: string) {
  const { rows } = await pool().query<{ outcome: string }>(
    'select outcome from exchange_attempt where organisation_id = $1 and patient_id = $2',
    [tenant.organisationId, patientId],
  );
  return rows.map(({ outcome }) => outcome).sort();
}
const until = (what: string, condition: () => Promise<boolean>) => waitUntil(condition, what);
const delivered = () => until('the rest is delivered', async () => (await heads()).length === 0);

describe('a delivery that waits behind a slow request', () => {
  test('is not sent once its patient has refused the purpose, and the refusal is in the access log [EXC-24]', async () => {
    const [refusing = '', ...others] = await allWait();
    await refuse(refusing);
    go();
    await until(
      'it is held',
      async () =>
        (await heads()).every((head) => head.held_reason === 'privacy_refused') &&
        (await heads()).length === 1,
    );
    assert.deepEqual(arrived().slice(1).sort(), others.sort());
    const logged = (await deliverEntries()).filter((entry) => entry.patient_id === refusing);
    assert.equal(logged.at(-1)?.outcome, 'refused');
    assert.deepEqual(
      await outcomes(refusing),
      ['unsent', 'withheld'],
      'the ledger says that nothing went out',
    );
    assert.equal((await heads())[0]?.attempts, 0);
  });

  test('is not sent once its connection is disabled, and goes when it is enabled [EXC-24]', async () => {
    await allWait();
    await call('POST', `/exchange/connections/${connectionId}/disable`);
    go();
    await until('nothing is leased', async () =>
      (await heads()).every((head) => head.lease_token === null && head.held_reason === null),
    );
    assert.equal(exchange.arrivals.length, 1);
    await call('POST', `/exchange/connections/${connectionId}/enable`);
    await delivered();
    assert.deepEqual(arrived().sort(), patients.sort());
  });

  test('is not sent once the module is off, and goes when it is on again [EXC-24]', async () => {
    await allWait();
    await setModules(pool(), { ...tenant, modules: ['patients'] });
    go();
    await until('they are set aside', async () =>
      (await heads()).every((head) => head.parked_facility_id === tenant.facilityId),
    );
    assert.equal((await heads()).length, 3);
    assert.equal(exchange.arrivals.length, 1);
    await setModules(pool(), { ...tenant, modules: ['patients', 'exchange'] });
    await delivered();
    assert.deepEqual(arrived().sort(), patients.sort());
  });

  test('is held once the connection does not cover its facility [EXC-24]', async () => {
    await allWait();
    const other = await api.createFacility(tenant.organisationId);
    await pool().query('update exchange_connection set all_facilities = false where organisation_id = $1', [
      tenant.organisationId,
    ]);
    await pool().query(
      'insert into exchange_connection_facility (organisation_id, connection_id, facility_id) values ($1, $2, $3)',
      [tenant.organisationId, connectionId, other],
    );
    go();
    await until('they are held', async () =>
      (await heads()).every((head) => head.held_reason === 'facility_not_covered'),
    );
    assert.equal((await heads()).length, 3);
    assert.equal(exchange.arrivals.length, 1);
  });

  test('goes to the new address once that is confirmed [EXC-24]', async (context) => {
    await allWait();
    const elsewhere = await startExchange();
    context.after(() => elsewhere.close());
    await pool().query('update exchange_connection set address = $2, version = version + 1 where id = $1', [
      connectionId,
      elsewhere.url,
    ]);
    go();
    await delivered();
    assert.equal(exchange.arrivals.length, 1);
    assert.equal(elsewhere.arrivals.length, 3);
  });

  test('is withheld under the purpose that the connection has now', async () => {
    const [refusing = '', ...others] = await allWait();
    await refuse(refusing, ['RESEARCH']);
    await call('PATCH', `/exchange/connections/${connectionId}`, { purposeOfUse: 'RESEARCH' });
    go();
    await until('the others are delivered', async () => (await heads()).length === 1);
    await until('it is held', async () => (await heads())[0]?.held_reason === 'privacy_refused');
    assert.deepEqual(arrived().slice(1).sort(), others.sort());
    const { rows } = await pool().query<{ purpose_of_use: string }>(
      `select a.purpose_of_use
       from exchange_attempt t
       join access_log a on a.organisation_id = t.organisation_id and a.correlation_id = t.nonce::text
       where t.organisation_id = $1 and t.outcome = 'delivered' and t.patient_id <> $2`,
      [tenant.organisationId, arrived()[0]],
    );
    assert.deepEqual(new Set(rows.map((row) => row.purpose_of_use)), new Set(['RESEARCH']));
  });

  test('is sent under a lease that outlives its request, also when the time-out was raised meanwhile', async () => {
    await allWait();
    // As of a lease of 30 s, with the time-out that the connection had then.
    await pool().query(
      `update exchange_head set leased_until = now() + interval '30 seconds' where organisation_id = $1`,
      [tenant.organisationId],
    );
    await call('PATCH', `/exchange/connections/${connectionId}`, { timeoutMs: 40_000 });
    const leftMs: number[] = [];
    exchange.behave = ({ envelope }) => ({
      status: 200,
      after: pool()
        .query<{ ms: number }>(
          `select extract(epoch from leased_until - now())::float8 * 1000 as ms
           from exchange_head where organisation_id = $1 and patient_id = $2`,
          [tenant.organisationId, envelope.resource.id],
        )
        .then(({ rows }) => leftMs.push(rows[0]?.ms ?? 0)),
    });
    go();
    await delivered();
    assert.equal(leftMs.length, 3);
    assert.ok(
      leftMs.every((ms) => ms > 39_000),
      `ms of the lease that were left: ${leftMs}`,
    );
    assert.equal(exchange.arrivals.length, 4, 'each was sent once');
  });
});

describe('a patient who refuses', () => {
  test('between two tries of a delivery gets no second one', async () => {
    const [first = ''] = patients;
    exchange.behave = ({ envelope }) =>
      envelope.resource.id === first ? { status: 503, after: refuse(first) } : { status: 200 };
    worker.start();
    await until('it is held', async () => (await heads())[0]?.held_reason === 'privacy_refused');
    await until('the others are delivered', async () => (await heads()).length === 1);
    assert.equal(arrived().filter((id) => id === first).length, 1);
    assert.deepEqual(await outcomes(first), ['failed', 'withheld']);
  });

  test('after a replay, while it waits, is not sent', async () => {
    const [held = ''] = patients;
    exchange.behave = ({ envelope }) => ({ status: envelope.resource.id === held ? 422 : 200 });
    worker.start();
    await until('only one is left', async () => (await heads()).length === 1);
    await until('it is held', async () => (await heads())[0]?.held_reason === 'refused_422');
    const slow = Promise.withResolvers<void>();
    exchange.behave = () => ({ status: 200, after: slow.promise });
    await queue(pool(), tenant, await insertPatients(pool(), tenant, 1));
    await exchange.waitFor(patients.length + 1);
    await call('POST', '/exchange/deliveries/replay', { patientId: held });
    const logged = async () => (await deliverEntries()).filter((entry) => entry.patient_id === held);
    await until('it waits for its turn', async () => (await logged()).length === 2);
    await refuse(held);
    slow.resolve();
    await until('it is held again', async () => (await heads())[0]?.held_reason === 'privacy_refused');
    assert.equal(arrived().filter((id) => id === held).length, 1, 'only the try before the replay');
  });
});

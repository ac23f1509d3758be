import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { createTestDatabase, type TestDatabase } from '../../../test-support/database/database.ts';
import { watchPool } from '../../../test-support/database/watched-pool.ts';
import {
  connect,
  insertPatients,
  type Place,
  QUICK,
  queue,
  rename,
} from '../../../test-support/exchange/exchange-records.ts';
import { startExchange, type TestExchange } from '../../../test-support/exchange/exchange-server.ts';
import { waitUntil } from '../../../test-support/wait-until.ts';
import { createKeyRing } from '../../platform/crypto/key-ring.ts';
import type { Pool } from '../../platform/db/database.ts';
import { createLog } from '../../platform/log/log.ts';
import type { AccessEntry } from '../../privacy/access-log/access-log.ts';
import { createFacility, createOrganisation, setModules } from '../../tenancy/organisations/facilities.ts';
import { createWorkWatch } from '../../tenancy/organisations/organisation-work.ts';
import { updateConnection } from '../connections/connection.store.ts';
import type { CreatedConnection } from '../connections/create-connection.ts';
import { rotateSecret } from '../connections/rotate-secret.ts';
import { connectionStates } from '../queue/connection-state.store.ts';
import { decide } from '../review/review.store.ts';
import { openBreaker } from './breaker.store.ts';
import type { DeliverySettings } from './delivery-settings.ts';
import { createDeliveryWorker, type DeliveryWorker } from './delivery-worker.ts';

const keys = createKeyRing(randomBytes(32));
let database: TestDatabase;
let exchange: TestExchange;
let place: Place;
let connection: CreatedConnection;
let entries: AccessEntry[];
/** The names of what the workers asked the database; a look, with its organisation. */
let statements: string[];
let watched: Pool;
const workers: DeliveryWorker[] = [];
/** Call the workers for an organisation. */
let calls: ((organisationId: string) => void)[] = [];

const LOOK = 'exchange-connection-states';
const lookAt = (organisationId: string) => `${LOOK} of ${organisationId}`;

before(async () => {
  database = await createTestDatabase();
  ({ db: watched, statements } = watchPool(database.pool, ({ name = 'unnamed', values }) =>
    name === LOOK ? lookAt(String(values?.[0])) : name,
  ));
});
after(() => database.drop());
beforeEach(async () => {
  const { id: organisationId } = await createOrganisation(database.pool, { name: 'Org' });
  const { id: facilityId } = await createFacility(database.pool, { organisationId, name: 'Clinic' });
  place = { organisationId, facilityId };
  exchange = await startExchange('/in?b=2&a=1');
  connection = await connect({ pool: database.pool, keys }, place, { address: exchange.url });
  exchange.trust = { clientId: 'test-client', secrets: [connection.outboundSecret] };
  entries = [];
  statements.length = 0;
});
afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.stop()));
  calls = [];
  await updateConnection(database.pool, key(), { disabled: true });
  await exchange.close();
});

const key = () => ({ organisationId: place.organisationId, connectionId: connection.id });

function work(
  settings: DeliverySettings = QUICK,
  record?: (entries: readonly AccessEntry[]) => Promise<void>,
  now: () => Date = () => new Date(),
): DeliveryWorker {
  const worker = createDeliveryWorker({
    db: watched,
    work: createWorkWatch().of('deliveries'),
    listen(onCall) {
      calls.push(onCall);
      return () => undefined;
    },
    keys,
    log: createLog('silent'),
    now,
    settings,
    accessLog: {
      record: record ?? (async (added) => void entries.push(...added)),
    },
    onAttempt: () => undefined,
  });
  workers.push(worker);
  worker.start();
  return worker;
}

async function heads() {
  const { rows } = await database.pool.query<{
    patient_id: string;
    sequence: number;
    attempts: number;
    due_at: Date | null;
    held_reason: string | null;
    lease_token: string | null;
    lease_ended: boolean;
  }>(
    `select *, leased_until <= now() as lease_ended
     from exchange_head where organisation_id = $1 order by patient_id`,
    [place.organisationId],
  );
  return rows;
}

async function endLeases(): Promise<void> {
  await database.pool.query(
    `update exchange_head set leased_until = now() - interval '1 second' where organisation_id = $1`,
    [place.organisationId],
  );
}

async function attempts(patientId?: string) {
  const { rows } = await database.pool.query<{
    patient_id: string;
    sequence: number;
    outcome: string;
    status: number | null;
    counted: boolean;
    nonce: string;
    failure: string | null;
  }>(
    `select * from exchange_attempt
     where organisation_id = $1 and ($2::uuid is null or patient_id = $2) order by started_at, sequence`,
    [place.organisationId, patientId],
  );
  return rows;
}

/** Until every worker has looked for deliveries again, twice from the beginning to the end. */
async function workersLook(): Promise<void> {
  const looks = () => statements.filter((name) => name === lookAt(place.organisationId)).length;
  for (let round = 0; round < 3; round += 1) {
    const before = looks();
    for (const call of calls) call(place.organisationId);
    await waitUntil(() => looks() >= before + workers.length, 'the workers look for deliveries');
  }
}
const until = (what: string, condition: () => Promise<boolean>) => waitUntil(condition, what);
const allDelivered = () => until('everything is delivered', async () => (await heads()).length === 0);

describe('delivery', () => {
  test('posts the stored envelope, signed, with the delivery id as idempotency key [EXC-5, EXC-6, EXC-7, EXC-8]', async () => {
    const [patientId = ''] = await insertPatients(database.pool, place, 1);
    assert.equal(await queue(database.pool, place, [patientId]), 1);
    work();
    await exchange.waitFor(1);
    await allDelivered();
    const [arrival] = exchange.arrivals;
    assert.ok(arrival);
    assert.equal(arrival.verdict, 'valid');
    assert.equal(arrival.method, 'POST');
    assert.equal(arrival.target, '/in?b=2&a=1');
    const { rows } = await database.pool.query(
      'select id, body from exchange_delivery where organisation_id = $1',
      [place.organisationId],
    );
    assert.equal(arrival.body, rows[0]?.body);
    const { resource, occurredAt, ...envelope } = arrival.envelope;
    assert.deepEqual(envelope, {
      deliveryId: rows[0]?.id,
      event: 'patient.created',
      organisationId: place.organisationId,
      facilityId: place.facilityId,
      connectionId: connection.id,
      sequence: 1,
    });
    assert.match(String(occurredAt), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    assert.equal((resource as { resourceType?: string }).resourceType, 'Patient');
    assert.equal(resource.id, patientId);
    const { headers } = arrival;
    assert.equal(headers['content-type'], 'application/json');
    assert.equal(headers['x-idempotency-key'], rows[0]?.id);
    assert.equal(headers['x-client-id'], 'test-client');
    assert.match(String(headers['x-signature-time']), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    assert.match(String(headers['x-correlation-id']), /^[0-9a-f-]{36}$/);
    const [attempt] = await attempts();
    assert.equal(attempt?.outcome, 'delivered');
    assert.equal(attempt?.nonce, headers['x-correlation-id']);
  });

  test('writes the access log before it sends, and sends nothing when it cannot [EXC-26]', async () => {
    const ids = await insertPatients(database.pool, place, 3);
    await queue(database.pool, place, ids);
    let logs = false;
    let failures = 0;
    work(QUICK, async (added) => {
      if (!logs) {
        failures += 1;
        throw new Error('access log is down');
      }
      entries.push(...added);
    });
    await waitUntil(() => failures >= 3, 'the access log failed more than once');
    assert.equal(exchange.arrivals.length, 0);
    exchange.behave = (arrival) => {
      assert.ok(entries.some((entry) => entry.correlationId === arrival.headers['x-correlation-id']));
      return { status: 204 };
    };
    logs = true;
    await allDelivered();
    const entry = entries.find((one) => one.patientId === ids[0]);
    assert.deepEqual(entry, {
      organisationId: place.organisationId,
      facilityId: place.facilityId,
      patientId: ids[0],
      accountId: connection.id,
      action: 'patient.deliver',
      resourceType: 'Patient',
      resourceId: ids[0],
      purposeOfUse: 'OPS',
      outcome: 'allowed',
      correlationId: entry?.correlationId,
    });
  });

  test('keeps the order of each patient, with two workers and many changes [EXC-13]', async () => {
    const ids = await insertPatients(database.pool, place, 20);
    await queue(database.pool, place, ids);
    exchange.behave = () => ({ status: Math.random() < 0.2 ? 503 : 200, delayMs: Math.random() * 10 });
    work();
    work();
    for (let round = 1; round <= 9; round += 1) await rename(database.pool, place, ids, String(round));
    await allDelivered();
    for (const id of ids) {
      const arrived = exchange.arrivals
        .filter(({ envelope }) => envelope.resource.id === id)
        .map(({ envelope }) => envelope.sequence);
      assert.deepEqual([...new Set(arrived)], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
      assert.deepEqual(
        arrived,
        arrived.toSorted((a, b) => a - b),
      );
    }
    assert.ok(
      exchange.arrivals.every(({ verdict }) => verdict === 'valid'),
      'every attempt has a fresh nonce',
    );
  });

  test('holds back only the patient whose delivery waits [EXC-14]', async () => {
    const [slow = '', ...others] = await insertPatients(database.pool, place, 10);
    exchange.behave = ({ envelope }) => ({ status: envelope.resource.id === slow ? 500 : 200 });
    await queue(database.pool, place, [slow, ...others]);
    await rename(database.pool, place, [slow, ...others], '1');
    work({ ...QUICK, retry: { ...QUICK.retry, delaysMs: [60_000] } });
    await until('the others are delivered', async () => (await heads()).length === 1);
    const arrived = exchange.arrivals.filter(({ envelope }) => envelope.resource.id === slow);
    assert.deepEqual(
      arrived.map(({ envelope }) => envelope.sequence),
      [1],
    );
    assert.equal(exchange.arrivals.length, 1 + 2 * others.length);
  });

  test('holds a delivery after the last retry, and at once when it is refused for good [EXC-11, EXC-18, EXC-19]', async () => {
    const [failing = '', refused = '', fine = ''] = await insertPatients(database.pool, place, 3);
    exchange.behave = ({ envelope }) => ({
      status: { [failing]: 500, [refused]: 422 }[envelope.resource.id] ?? 200,
    });
    await queue(database.pool, place, [failing, refused, fine]);
    await rename(database.pool, place, [failing, refused, fine], '1');
    work();
    await until(
      'two are held',
      async () => (await heads()).filter((head) => head.held_reason !== null).length === 2,
    );
    const reasons = new Map((await heads()).map((head) => [head.patient_id, head.held_reason]));
    assert.equal(reasons.get(failing), 'retries_exhausted');
    assert.equal(reasons.get(refused), 'refused_422');
    const tried = await attempts(failing);
    assert.equal(tried.length, 9, 'the first try and eight retries');
    assert.deepEqual(
      [...new Set(tried.map(({ sequence }) => sequence))],
      [1],
      'what is behind a held delivery waits',
    );
    assert.equal(new Set(tried.map(({ nonce }) => nonce)).size, 9);
    assert.deepEqual(
      (await attempts(refused)).map(({ outcome, status }) => [outcome, status]),
      [['refused', 422]],
    );
    assert.equal((await attempts(fine)).length, 2);
  });

  test('sends the original envelope on replay, before what changed since [EXC-31]', async () => {
    const [patient = ''] = await insertPatients(database.pool, place, 1);
    exchange.behave = () => ({ status: 422 });
    await queue(database.pool, place, [patient]);
    work();
    await until('it is held', async () => (await heads())[0]?.held_reason === 'refused_422');
    await rename(database.pool, place, [patient], 'changed since');
    exchange.behave = () => ({ status: 200 });
    const decision = { action: 'replay', reason: null, accountId: null } as const;
    await decide(database.pool, place, { filter: {}, decision });
    await allDelivered();
    const [refused, replayed, next] = exchange.arrivals;
    assert.equal(exchange.arrivals.length, 3);
    assert.equal(replayed?.body, refused?.body, 'byte for byte');
    assert.doesNotMatch(replayed?.body ?? '', /changed since/);
    assert.match(next?.body ?? '', /changed since/);
    const { rows } = await database.pool.query(
      'select action from exchange_review where organisation_id = $1',
      [place.organisationId],
    );
    assert.deepEqual(rows, [{ action: 'replay' }]);
  });

  test('honours retry-after [EXC-17]', async () => {
    const ids = await insertPatients(database.pool, place, 1);
    exchange.behave = () => ({ status: 429, headers: { 'retry-after': '3600' } });
    await queue(database.pool, place, ids);
    work();
    await until('the delivery waits', async () => (await heads())[0]?.attempts === 1);
    const [head] = await heads();
    const waitMs = (head?.due_at?.getTime() ?? 0) - Date.now();
    assert.ok(waitMs > 3_000_000 && waitMs <= 3_600_000, String(waitMs));
  });

  test('follows no redirect [SEC-26]', async () => {
    const ids = await insertPatients(database.pool, place, 1);
    const elsewhere = await startExchange();
    exchange.behave = () => ({ status: 307, headers: { location: elsewhere.url } });
    await queue(database.pool, place, ids);
    work({ ...QUICK, retry: { ...QUICK.retry, delaysMs: [60_000] } });
    await until('the delivery waits', async () => (await heads())[0]?.attempts === 1);
    assert.equal(elsewhere.arrivals.length, 0);
    await elsewhere.close();
  });

  test('withholds and logs what the privacy of the patient refuses [EXC-27]', async () => {
    const [id = ''] = await insertPatients(database.pool, place, 1);
    await queue(database.pool, place, [id]);
    await database.pool.query(
      `update patient set refused_purposes = '{OPS}' where organisation_id = $1 and id = $2`,
      [place.organisationId, id],
    );
    work();
    await until('it is held', async () => (await heads())[0]?.held_reason === 'privacy_refused');
    assert.equal(exchange.arrivals.length, 0);
    assert.deepEqual(
      entries.map(({ outcome }) => outcome),
      ['refused'],
    );
    assert.deepEqual(
      (await attempts()).map(({ outcome }) => outcome),
      ['withheld'],
    );
  });

  test('probes with the next patient at once when the first ones refuse the purpose', async () => {
    const refusing = await insertPatients(database.pool, place, 2);
    await database.pool.query(`update patient set refused_purposes = '{OPS}' where organisation_id = $1`, [
      place.organisationId,
    ]);
    await queue(database.pool, place, refusing);
    const [patient = ''] = await insertPatients(database.pool, place, 1);
    await queue(database.pool, place, [patient]);
    await openBreaker(database.pool, key(), 0);
    work();
    await until('the circuit is closed by a probe', async () => (await attempts(patient)).length === 1);
    assert.deepEqual(
      (await heads()).map(({ held_reason }) => held_reason),
      ['privacy_refused', 'privacy_refused'],
    );
  });

  test('probes past whatever may not be sent, however much of it there is, without waiting for the next look', async () => {
    const facility = (name: string) =>
      createFacility(database.pool, { organisationId: place.organisationId, name });
    const [{ id: off }, { id: dropped }] = [await facility('Off'), await facility('Dropped')];
    const queueAt = async (facilityId: string, count: number) => {
      const ids = await insertPatients(database.pool, { ...place, facilityId }, count);
      await queue(database.pool, { ...place, facilityId }, ids);
      return ids;
    };
    await queueAt(off, 70);
    await queueAt(dropped, 70);
    const refusing = await queueAt(place.facilityId, 70);
    await database.pool.query(
      `update patient set refused_purposes = '{OPS}' where organisation_id = $1 and id = any($2)`,
      [place.organisationId, refusing],
    );
    const fine = await queueAt(place.facilityId, 40);
    await setModules(database.pool, { ...place, facilityId: off, modules: [] });
    await updateConnection(database.pool, key(), { facilityIds: [place.facilityId, off] });
    await openBreaker(database.pool, key(), 0);
    exchange.behave = () => ({ status: 503 });
    work({ ...QUICK, pollMs: 60_000, breaker: { ...QUICK.breaker, probeMs: 60_000, maxProbeMs: 60_000 } });
    await exchange.waitFor(1);
    let left = await heads();
    const count = (reason: string | null, due: boolean) =>
      left.filter((head) => head.held_reason === reason && (head.due_at !== null) === due).length;
    await until('everything that was leased is settled', async () => {
      left = await heads();
      return count(null, false) === 70 && left.every((head) => head.lease_token === null);
    });
    assert.equal(exchange.arrivals.length, 1, 'one delivery probes');
    assert.deepEqual(
      [count(null, false), count('facility_not_covered', false), count('privacy_refused', false)],
      [70, 70, 70],
    );
    const others = left.filter((head) => fine.includes(head.patient_id));
    assert.ok(others.every((head) => head.lease_token === null && head.attempts === 0));
    assert.equal(others.length, 40);
  });

  test('opens the circuit while an exchange is down, uses up no tries, and goes on when it is back [EXC-20, EXC-21]', async () => {
    const ids = await insertPatients(database.pool, place, 40);
    let down = true;
    let gate: Promise<void> | undefined;
    exchange.behave = () => (down && gate === undefined ? 'drop' : { status: down ? 503 : 200, after: gate });
    await queue(database.pool, place, ids);
    work();
    await until('the circuit is open', async () => {
      const { rows } = await database.pool.query(
        'select opened_at from exchange_circuit where organisation_id = $1',
        [place.organisationId],
      );
      return rows[0]?.opened_at !== null;
    });
    await until('nothing but probes is sent', async () =>
      (await heads()).every((head) => head.lease_token === null),
    );
    await exchange.waitFor(exchange.arrivals.length + 2);
    const answer = Promise.withResolvers<void>();
    gate = answer.promise;
    const before = exchange.arrivals.length;
    await exchange.waitFor(before + 1);
    await workersLook();
    assert.equal(exchange.arrivals.length, before + 1, 'one probe at a time');
    answer.resolve();
    await exchange.waitFor(before + 2);
    const used = (await attempts()).filter(({ counted }) => counted);
    assert.ok(used.length <= 20, `tries used up: ${used.length}`);
    assert.ok((await heads()).every((head) => head.attempts <= 1 && head.held_reason === null));
    down = false;
    await allDelivered();
    const { rows } = await database.pool.query(
      'select opened_at from exchange_circuit where organisation_id = $1',
      [place.organisationId],
    );
    assert.equal(rows[0]?.opened_at, null);
  });

  test('leaves an exchange that asks for time alone for as long, with every patient, or until the connection is changed [EXC-17]', async () => {
    const probeInMs = async () => {
      const { rows } = await database.pool.query<{ ms: number }>(
        `select extract(epoch from probe_at - now())::double precision * 1000 as ms
         from exchange_circuit where organisation_id = $1 and opened_at is not null`,
        [place.organisationId],
      );
      return rows[0]?.ms ?? 0;
    };
    const ids = await insertPatients(database.pool, place, 40);
    exchange.behave = () => ({ status: 503, headers: { 'retry-after': '3600' } });
    await queue(database.pool, place, ids);
    work();
    await until('the circuit is open', async () => (await probeInMs()) > 0);
    await until('what was in flight is settled', async () =>
      (await heads()).every((head) => head.lease_token === null),
    );
    const before = exchange.arrivals.length;
    assert.ok((await probeInMs()) > 3_590_000, 'as the failure that opened it asked');
    await workersLook();
    assert.equal(exchange.arrivals.length, before, 'no probe comes sooner');
    exchange.behave = () => ({ status: 429, headers: { 'retry-after': '7200' } });
    await updateConnection(database.pool, key(), { disabled: false });
    await exchange.waitFor(before + 1);
    await until('the probe asked for more time', async () => (await probeInMs()) > 7_190_000);
    exchange.behave = () => ({ status: 503, headers: { 'retry-after': '99999999' } });
    await updateConnection(database.pool, key(), { disabled: false });
    await exchange.waitFor(before + 2);
    await until('the limit is a day', async () => (await probeInMs()) > 86_390_000);
    assert.ok((await probeInMs()) <= 86_400_000);
    exchange.behave = () => ({ status: 200 });
    await updateConnection(database.pool, key(), { disabled: false });
    await until('all but those that were told to wait are delivered', async () =>
      (await heads()).every((head) => (head.due_at?.getTime() ?? 0) > Date.now() + 3_000_000),
    );
  });

  test('never takes an exchange for down because of one patient [EXC-22]', async () => {
    const [bad = '', good = ''] = await insertPatients(database.pool, place, 2);
    exchange.behave = ({ envelope }) => ({ status: envelope.resource.id === bad ? 503 : 200 });
    await queue(database.pool, place, [bad]);
    work();
    await until('it is held', async () => (await heads())[0]?.held_reason === 'retries_exhausted');
    await queue(database.pool, place, [good]);
    await until('the other is delivered', async () => (await heads()).length === 1);
    assert.ok((await attempts(bad)).every(({ counted }) => counted));
  });

  test('gives back what it leased when it is stopped', async () => {
    const ids = await insertPatients(database.pool, place, 200);
    exchange.behave = () => ({ status: 200, delayMs: 100 });
    await queue(database.pool, place, ids);
    const worker = work();
    await exchange.waitFor(20);
    await worker.stop();
    const arrived = exchange.arrivals.length;
    const left = await heads();
    assert.equal(left.length, 200 - arrived, 'what was in flight is settled');
    assert.ok(left.every((head) => head.lease_token === null && head.attempts === 0));
    work();
    await allDelivered();
    assert.equal(new Set(exchange.arrivals.map(({ envelope }) => envelope.deliveryId)).size, 200);
    assert.equal(exchange.arrivals.length, 200, 'nothing was sent twice');
  });

  test('sends again, with the same delivery id, what a dead worker had leased, once that ended [EXC-8, EXC-50, EXC-55]', async () => {
    const ids = await insertPatients(database.pool, place, 1);
    await queue(database.pool, place, ids);
    await database.pool.query(
      `update exchange_head set lease_token = $2, leased_until = now() + interval '1 hour'
       where organisation_id = $1`,
      [place.organisationId, randomUUID()],
    );
    const [state] = await connectionStates(database.pool, place);
    assert.ok((state?.dueInMs ?? 0) > 0, 'it becomes due when the lease ends');
    work();
    await workersLook();
    assert.equal(exchange.arrivals.length, 0);
    await endLeases();
    await exchange.waitFor(1);
    await allDelivered();
  });

  test('does not wait for a change under way, and settles once it is done', async () => {
    const [locked = '', free = ''] = await insertPatients(database.pool, place, 2);
    const answer = Promise.withResolvers<void>();
    exchange.behave = () => ({ status: 200, after: answer.promise });
    await queue(database.pool, place, [locked, free]);
    work();
    await exchange.waitFor(2);
    const client = await database.pool.connect();
    try {
      await client.query('begin');
      await client.query(
        'select from exchange_head where organisation_id = $1 and patient_id = $2 for update',
        [place.organisationId, locked],
      );
      answer.resolve();
      await until('the other is settled', async () => (await heads()).length === 1);
      const { length } = statements;
      const tries = () => statements.slice(length).filter((name) => name === 'exchange-settle').length;
      await waitUntil(() => tries() >= 2, 'what is locked is tried again');
    } finally {
      await client.query('commit');
      client.release();
    }
    await allDelivered();
    assert.equal((await attempts()).length, 2, 'one line each in the ledger');
    assert.equal(exchange.arrivals.length, 2);
  });

  test('notes what each secret was last used for [EXC-48]', async () => {
    const [first = '', second = ''] = await insertPatients(database.pool, place, 2);
    await queue(database.pool, place, [first]);
    work();
    await allDelivered();
    const deps = { db: database.pool, keys, now: new Date(), publicBaseUrl: 'http://localhost/api/v1' };
    await rotateSecret(deps, key(), { overlapSeconds: 60, activate: 'now' });
    await queue(database.pool, place, [second]);
    await allDelivered();
    const uses = async () => {
      const { rows } = await database.pool.query<{ last_used_at: Date | null; last_used_for: string | null }>(
        `select last_used_at, last_used_for from exchange_secret where organisation_id = $1 and direction = 'outbound'`,
        [place.organisationId],
      );
      return rows;
    };
    await until('both uses are noted', async () => (await uses()).every((use) => use.last_used_at !== null));
    for (const use of await uses()) assert.match(String(use.last_used_for), /^delivery [0-9a-f-]{36}$/);
  });

  test('sends to no address inside that an operator did not set [SEC-25]', async () => {
    const ids = await insertPatients(database.pool, place, 1);
    await queue(database.pool, place, ids);
    await updateConnection(database.pool, key(), { address: exchange.url, operatorAddress: false });
    work();
    await waitUntil(() => statements.includes('exchange-connection-settings'), 'its address is read');
    await workersLook();
    assert.equal(exchange.arrivals.length, 0);
    await updateConnection(database.pool, key(), { address: exchange.url, operatorAddress: true });
    await allDelivered();
    assert.equal(exchange.arrivals.length, 1);
  });

  test('sends nothing of a facility while its exchange module is off, and goes on when it is on again [EXC-25]', async () => {
    const { id: other } = await createFacility(database.pool, {
      organisationId: place.organisationId,
      name: 'Other',
    });
    const [off = ''] = await insertPatients(database.pool, place, 1);
    const [on = ''] = await insertPatients(database.pool, { ...place, facilityId: other }, 1);
    await queue(database.pool, place, [off]);
    await queue(database.pool, { ...place, facilityId: other }, [on]);
    await rename(database.pool, place, [off], 'second');
    await setModules(database.pool, { ...place, modules: ['patients'] });
    work();
    await exchange.waitFor(1);
    await workersLook();
    assert.deepEqual(
      exchange.arrivals.map(({ envelope }) => envelope.resource.id),
      [on],
    );
    assert.deepEqual(
      entries.map(({ patientId }) => patientId),
      [on],
      'nor is it an access',
    );
    const [waiting] = await heads();
    assert.deepEqual([waiting?.sequence, waiting?.due_at, waiting?.held_reason], [1, null, null]);
    assert.equal((await attempts(off)).length, 0);
    await setModules(database.pool, { ...place, modules: ['patients', 'exchange'] });
    await allDelivered();
    assert.deepEqual(
      exchange.arrivals.slice(1).map(({ envelope }) => envelope.sequence),
      [1, 2],
    );
  });

  test('holds what is queued for a facility that the connection covers no more, and sends it on replay', async () => {
    const { id: other } = await createFacility(database.pool, {
      organisationId: place.organisationId,
      name: 'Other',
    });
    const [patient = ''] = await insertPatients(database.pool, place, 1);
    await queue(database.pool, place, [patient]);
    await updateConnection(database.pool, key(), { facilityIds: [other] });
    work();
    await until('it is held', async () => (await heads())[0]?.held_reason === 'facility_not_covered');
    assert.equal(exchange.arrivals.length, 0);
    assert.equal(entries.length, 0);
    await updateConnection(database.pool, key(), { facilityIds: null });
    const decision = { action: 'replay', reason: null, accountId: null } as const;
    await decide(database.pool, place, { filter: {}, decision });
    await allDelivered();
    assert.equal(exchange.arrivals.length, 1);
  });

  test('lets what waits for a module be decided on once the facility is not covered', async () => {
    const { id: other } = await createFacility(database.pool, {
      organisationId: place.organisationId,
      name: 'Other',
    });
    const [patient = ''] = await insertPatients(database.pool, place, 1);
    await queue(database.pool, place, [patient]);
    await setModules(database.pool, { ...place, modules: [] });
    work();
    await until('it waits', async () => (await heads())[0]?.due_at === null);
    await updateConnection(database.pool, key(), { facilityIds: [other] });
    await until('it is held', async () => (await heads())[0]?.held_reason === 'facility_not_covered');
    assert.equal(exchange.arrivals.length, 0);
  });

  test('begins no send under a lease that ended while the machine was suspended [EXC-15]', async () => {
    const [patient = ''] = await insertPatients(database.pool, place, 1);
    await queue(database.pool, place, [patient]);
    let asleepMs = 0;
    const leased: (string | null | undefined)[] = [];
    work(
      QUICK,
      async () => {
        leased.push((await heads())[0]?.lease_token);
        // Suspended between the trace and the send, for longer than the lease.
        if (leased.length === 1) asleepMs = 600_000;
      },
      () => new Date(Date.now() + asleepMs),
    );
    await allDelivered();
    assert.deepEqual((await attempts(patient)).map(({ outcome }) => outcome).sort(), ['delivered', 'unsent']);
    assert.equal(exchange.arrivals.length, 1);
    assert.equal(new Set(leased).size, 2, 'it was sent under another lease');
  });

  test('begins no send under a lease that ended while the trace was written', async () => {
    const [patient = ''] = await insertPatients(database.pool, place, 1);
    await queue(database.pool, place, [patient]);
    await updateConnection(database.pool, key(), { timeoutMs: 400 });
    let traces = 0;
    work({ ...QUICK, leaseMs: 1_000 }, async () => {
      traces += 1;
      if (traces > 1) return;
      const token = (await heads())[0]?.lease_token;
      await until('the lease has ended', async () => {
        const [head] = await heads();
        return head?.lease_token !== token || head?.lease_ended === true;
      });
    });
    await allDelivered();
    assert.equal(exchange.arrivals.length, 1);
    const outcomes = (await attempts(patient)).map(({ outcome }) => outcome);
    assert.deepEqual(outcomes.sort(), ['delivered', 'unsent']);
  });

  test('moves nothing by a result that comes after another worker took the lane over [EXC-15]', async () => {
    const [patient = ''] = await insertPatients(database.pool, place, 1);
    await queue(database.pool, place, [patient]);
    await rename(database.pool, place, [patient], 'second');
    await updateConnection(database.pool, key(), { timeoutMs: 500 });
    const refusal = Promise.withResolvers<void>();
    // The first send hangs; while it does, its lease ends and another takes the lane, as after a suspension.
    exchange.behave = () =>
      exchange.arrivals.length === 0 ? { status: 422, after: refusal.promise } : { status: 200 };
    work({ ...QUICK, leaseMs: 1_000 });
    await exchange.waitFor(1);
    await endLeases();
    work({ ...QUICK, leaseMs: 1_000 });
    await allDelivered();
    refusal.resolve();
    assert.deepEqual(
      exchange.arrivals.map(({ envelope }) => envelope.sequence),
      [1, 1, 2],
    );
    await until('the late refusal is in the ledger', async () => (await attempts(patient)).length === 3);
    assert.deepEqual(await heads(), [], 'but holds nothing');
  });

  test('stops when the connection is disabled and goes on when it is enabled', async () => {
    const ids = await insertPatients(database.pool, place, 1);
    await queue(database.pool, place, ids);
    await updateConnection(database.pool, key(), { disabled: true });
    work();
    await workersLook();
    assert.equal(exchange.arrivals.length, 0);
    await updateConnection(database.pool, key(), { disabled: false });
    await allDelivered();
  });

  test('goes on with what it had leased when its connection is changed meanwhile', async () => {
    const ids = await insertPatients(database.pool, place, 200);
    exchange.behave = () => ({ status: 200, delayMs: 40 });
    await queue(database.pool, place, ids);
    work();
    for (const count of [10, 60, 110]) {
      await exchange.waitFor(count);
      await updateConnection(database.pool, key(), { name: `Renamed at ${count}` });
    }
    await allDelivered();
    assert.equal(exchange.arrivals.length, 200, 'nothing was sent twice');
  });

  test('is not slowed by another exchange that hangs [EXC-23]', async (context) => {
    const hanging = await startExchange();
    context.after(() => hanging.close());
    const gate = Promise.withResolvers<void>();
    context.after(() => gate.resolve());
    hanging.behave = () => ({ status: 200, after: gate.promise });
    const other = await connect({ pool: database.pool, keys }, place, {
      address: hanging.url,
      timeoutMs: 60_000,
    });
    const ids = await insertPatients(database.pool, place, 300);
    await queue(database.pool, place, ids);
    work();
    await exchange.waitFor(300);
    assert.equal(hanging.arrivals.length, 16, 'no more than its limit in flight, none of them answered');
    gate.resolve();
    await updateConnection(database.pool, { ...key(), connectionId: other.id }, { disabled: true });
    await Promise.all(workers.splice(0).map((worker) => worker.stop()));
    calls = [];
  });
});

describe('queueing', () => {
  const sequences = async () => {
    const { rows } = await database.pool.query<{
      event: string;
      sequence: number;
      facility_id: string;
      connection_id: string;
    }>(
      'select event, sequence, facility_id, connection_id from exchange_delivery where organisation_id = $1 order by id',
      [place.organisationId],
    );
    return rows;
  };

  test('queues nothing when the emitted Patient stays as it was [EXC-3]', async () => {
    const ids = await insertPatients(database.pool, place, 2);
    assert.equal(await queue(database.pool, place, ids), 2);
    assert.equal(await queue(database.pool, place, ids, 'updated'), 0);
    assert.equal(await rename(database.pool, place, ids, '0'), 0, 'a new version of the same content');
    assert.equal(await rename(database.pool, place, ids, '1'), 2);
    assert.equal(await rename(database.pool, place, ids, '0'), 2, 'back again is a change');
    assert.deepEqual(
      (await sequences()).map(({ event, sequence }) => [event, sequence]),
      [
        ['patient.created', 1],
        ['patient.created', 1],
        ['patient.updated', 2],
        ['patient.updated', 2],
        ['patient.updated', 3],
        ['patient.updated', 3],
      ],
    );
  });

  test('rolls back with the change [EXC-2]', async () => {
    const ids = await insertPatients(database.pool, place, 1);
    const client = await database.pool.connect();
    try {
      await client.query('begin');
      const { enqueuePatientChanges } = await import('../queue/enqueue-patient-changes.ts');
      assert.equal(
        await enqueuePatientChanges(client, place, [{ patientId: ids[0] ?? '', event: 'created' }]),
        1,
      );
    } finally {
      await client.query('rollback');
      client.release();
    }
    assert.deepEqual(await heads(), []);
    assert.deepEqual(await sequences(), []);
  });

  test('writes one delivery for each connection that covers a facility of the patient [EXC-2, EXC-6]', async () => {
    const { id: otherFacility } = await createFacility(database.pool, {
      organisationId: place.organisationId,
      name: 'Other',
    });
    const { id: third } = await createFacility(database.pool, {
      organisationId: place.organisationId,
      name: 'Third',
    });
    const only = await connect({ pool: database.pool, keys }, place, {
      address: exchange.url,
      facilityIds: [otherFacility],
    });
    await connect({ pool: database.pool, keys }, place, { address: exchange.url, facilityIds: [third] });
    const [both = '', one = ''] = await insertPatients(database.pool, place, 2);
    await database.pool.query(
      'insert into patient_registration (organisation_id, facility_id, patient_id) values ($1, $2, $3)',
      [place.organisationId, otherFacility, both],
    );
    assert.equal(await queue(database.pool, place, [both, one]), 3);
    const rows = await sequences();
    assert.deepEqual(
      rows.filter((row) => row.connection_id === only.id).map((row) => row.facility_id),
      [otherFacility],
    );
    assert.equal(rows.filter((row) => row.connection_id === connection.id).length, 2);
  });

  test('writes none for a disabled connection or a facility without the exchange module [EXC-4]', async () => {
    const ids = await insertPatients(database.pool, place, 1);
    await updateConnection(database.pool, key(), { disabled: true });
    assert.equal(await queue(database.pool, place, ids), 0);
    await updateConnection(database.pool, key(), { disabled: false });
    await setModules(database.pool, { ...place, modules: ['patients'] });
    assert.equal(await queue(database.pool, place, ids), 0);
    await setModules(database.pool, { ...place, modules: ['exchange'] });
    assert.equal(await queue(database.pool, place, ids), 1);
  });
});

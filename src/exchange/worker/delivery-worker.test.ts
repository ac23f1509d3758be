/** What a worker sends, in which order, and what becomes of it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { insertPatients, QUICK, queue, rename } from '../../../test-support/exchange/exchange-records.ts';
import { startExchange } from '../../../test-support/exchange/exchange-server.ts';
import { useWorkers } from '../../../test-support/exchange/worker-test.ts';
import { waitUntil } from '../../../test-support/wait-until.ts';
import { updateConnection } from '../connections/connection.store.ts';
import { activateSecret, rotateSecret } from '../connections/rotate-secret.ts';
import { decide } from '../review/review.store.ts';

const t = useWorkers();

test('posts the stored envelope, signed, with the delivery id as idempotency key [EXC-5, EXC-6, EXC-7, EXC-8]', async () => {
  const [patientId = ''] = await insertPatients(t.database.pool, t.place, 1);
  assert.equal(await queue(t.database.pool, t.place, [patientId]), 1);
  t.work();
  await t.exchange.waitFor(1);
  await t.allDelivered();
  const [arrival] = t.exchange.arrivals;
  assert.ok(arrival);
  assert.equal(arrival.verdict, 'valid');
  assert.equal(arrival.method, 'POST');
  assert.equal(arrival.target, '/in?b=2&a=1');
  const { rows } = await t.database.pool.query(
    'select id, body from exchange_delivery where organisation_id = $1',
    [t.place.organisationId],
  );
  assert.equal(arrival.body, rows[0]?.body);
  const { resource, occurredAt, ...envelope } = arrival.envelope;
  assert.deepEqual(envelope, {
    deliveryId: rows[0]?.id,
    event: 'patient.created',
    organisationId: t.place.organisationId,
    facilityId: t.place.facilityId,
    connectionId: t.connection.id,
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
  const [attempt] = await t.attempts();
  assert.equal(attempt?.outcome, 'delivered');
  assert.equal(attempt?.nonce, headers['x-correlation-id']);
});

test('writes the access log before it sends, and sends nothing when it cannot [EXC-26]', async () => {
  const ids = await insertPatients(t.database.pool, t.place, 3);
  await queue(t.database.pool, t.place, ids);
  let logs = false;
  let failures = 0;
  t.work(QUICK, async (added) => {
    if (!logs) {
      failures += 1;
      throw new Error('access log is down');
    }
    t.entries.push(...added);
  });
  await waitUntil(() => failures >= 3, 'the access log failed more than once');
  assert.equal(t.exchange.arrivals.length, 0);
  t.exchange.behave = (arrival) => {
    assert.ok(t.entries.some((entry) => entry.correlationId === arrival.headers['x-correlation-id']));
    return { status: 204 };
  };
  logs = true;
  await t.allDelivered();
  const entry = t.entries.find((one) => one.patientId === ids[0]);
  assert.deepEqual(entry, {
    organisationId: t.place.organisationId,
    facilityId: t.place.facilityId,
    patientId: ids[0],
    accountId: t.connection.id,
    action: 'patient.deliver',
    resourceType: 'Patient',
    resourceId: ids[0],
    purposeOfUse: 'OPS',
    outcome: 'allowed',
    correlationId: entry?.correlationId,
  });
});

test('keeps the order of each patient, with two workers and many changes [EXC-13]', async () => {
  const ids = await insertPatients(t.database.pool, t.place, 20);
  await queue(t.database.pool, t.place, ids);
  // No delivery fails so often that it is held.
  const tries = (deliveryId: string) =>
    t.exchange.arrivals.filter(({ envelope }) => envelope.deliveryId === deliveryId).length;
  t.exchange.behave = ({ envelope }) => ({
    status: Math.random() < 0.2 && tries(envelope.deliveryId) < 4 ? 503 : 200,
    delayMs: Math.random() * 10,
  });
  t.work();
  t.work();
  for (let round = 1; round <= 9; round += 1) await rename(t.database.pool, t.place, ids, String(round));
  await t.allDelivered();
  for (const id of ids) {
    const arrived = t.exchange.arrivals
      .filter(({ envelope }) => envelope.resource.id === id)
      .map(({ envelope }) => envelope.sequence);
    assert.deepEqual([...new Set(arrived)], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    assert.deepEqual(
      arrived,
      arrived.toSorted((a, b) => a - b),
    );
  }
  assert.ok(
    t.exchange.arrivals.every(({ verdict }) => verdict === 'valid'),
    'every attempt has a fresh nonce',
  );
});

test('holds back only the patient whose delivery waits [EXC-14]', async () => {
  const [slow = '', ...others] = await insertPatients(t.database.pool, t.place, 10);
  t.exchange.behave = ({ envelope }) => ({ status: envelope.resource.id === slow ? 500 : 200 });
  await queue(t.database.pool, t.place, [slow, ...others]);
  await rename(t.database.pool, t.place, [slow, ...others], '1');
  t.work({ ...QUICK, retry: { ...QUICK.retry, delaysMs: [60_000] } });
  await t.until('the others are delivered', async () => (await t.heads()).length === 1);
  const arrived = t.exchange.arrivals.filter(({ envelope }) => envelope.resource.id === slow);
  assert.deepEqual(
    arrived.map(({ envelope }) => envelope.sequence),
    [1],
  );
  assert.equal(t.exchange.arrivals.length, 1 + 2 * others.length);
});

test('holds a delivery after the last retry, and at once when it is refused for good [EXC-11, EXC-18, EXC-19]', async () => {
  const [failing = '', refused = '', fine = ''] = await insertPatients(t.database.pool, t.place, 3);
  t.exchange.behave = ({ envelope }) => ({
    status: { [failing]: 500, [refused]: 422 }[envelope.resource.id] ?? 200,
  });
  await queue(t.database.pool, t.place, [failing, refused, fine]);
  await rename(t.database.pool, t.place, [failing, refused, fine], '1');
  t.work();
  await t.until(
    'two are held',
    async () => (await t.heads()).filter((head) => head.held_reason !== null).length === 2,
  );
  const reasons = new Map((await t.heads()).map((head) => [head.patient_id, head.held_reason]));
  assert.equal(reasons.get(failing), 'retries_exhausted');
  assert.equal(reasons.get(refused), 'refused_422');
  const tried = await t.attempts(failing);
  assert.equal(tried.length, 9, 'the first try and eight retries');
  assert.deepEqual(
    [...new Set(tried.map(({ sequence }) => sequence))],
    [1],
    'what is behind a held delivery waits',
  );
  assert.equal(new Set(tried.map(({ nonce }) => nonce)).size, 9);
  assert.deepEqual(
    (await t.attempts(refused)).map(({ outcome, status }) => [outcome, status]),
    [['refused', 422]],
  );
  assert.equal((await t.attempts(fine)).length, 2);
});

test('sends the original envelope on replay, before what changed since [EXC-31]', async () => {
  const [patient = ''] = await insertPatients(t.database.pool, t.place, 1);
  t.exchange.behave = () => ({ status: 422 });
  await queue(t.database.pool, t.place, [patient]);
  t.work();
  await t.until('it is held', async () => (await t.heads())[0]?.held_reason === 'refused_422');
  await rename(t.database.pool, t.place, [patient], 'changed since');
  t.exchange.behave = () => ({ status: 200 });
  const decision = { action: 'replay', reason: null, accountId: null } as const;
  await decide(t.database.pool, t.place, { filter: {}, decision });
  await t.allDelivered();
  const [refused, replayed, next] = t.exchange.arrivals;
  assert.equal(t.exchange.arrivals.length, 3);
  assert.equal(replayed?.body, refused?.body, 'byte for byte');
  assert.doesNotMatch(replayed?.body ?? '', /changed since/);
  assert.match(next?.body ?? '', /changed since/);
  const { rows } = await t.database.pool.query(
    'select action from exchange_review where organisation_id = $1',
    [t.place.organisationId],
  );
  assert.deepEqual(rows, [{ action: 'replay' }]);
});

test('honours retry-after [EXC-17]', async () => {
  const ids = await insertPatients(t.database.pool, t.place, 1);
  t.exchange.behave = () => ({ status: 429, headers: { 'retry-after': '3600' } });
  await queue(t.database.pool, t.place, ids);
  t.work();
  await t.until('the delivery waits', async () => (await t.heads())[0]?.attempts === 1);
  const [head] = await t.heads();
  const waitMs = (head?.due_at?.getTime() ?? 0) - Date.now();
  assert.ok(waitMs > 3_000_000 && waitMs <= 3_600_000, String(waitMs));
});

test('tries at once what waits when a change may mend it, and leaves it waiting when none does [EXC-57]', async () => {
  const [patient = ''] = await insertPatients(t.database.pool, t.place, 1);
  t.exchange.behave = () => ({ status: 404 });
  await queue(t.database.pool, t.place, [patient]);
  t.work({ ...QUICK, retry: { ...QUICK.retry, delaysMs: Array(8).fill(3_600_000) } });
  const tried = (times: number) =>
    t.until(`it waits after try ${times}`, async () => {
      const [head] = await t.heads();
      return head?.attempts === times && (head.due_at?.getTime() ?? 0) > Date.now() + 2_000_000;
    });
  await tried(1);
  await t.change({ clientId: 'test-client-2' });
  await tried(2);
  await t.change({ name: 'Another name' });
  await t.change({ clientId: 'test-client-2' });
  await t.change({ timeoutMs: 3_000 });
  await t.workersLook();
  assert.equal(t.exchange.arrivals.length, 2, 'a change that mends nothing tries nothing');
  await t.change({ timeoutMs: 4_000 });
  await tried(3);
  await t.change({ disabled: false });
  await tried(4);
  const rotate = (rotation: { activate?: 'now' }) =>
    rotateSecret({ ...t, db: t.database.pool, now: new Date(), publicBaseUrl: '' }, t.key(), {
      direction: 'outbound',
      overlapSeconds: 60,
      ...rotation,
    });
  await rotate({});
  await t.workersLook();
  assert.equal(t.exchange.arrivals.length, 4, 'the new secret does not sign yet');
  await activateSecret(t.database.pool, t.key());
  await tried(5);
  await rotate({ activate: 'now' });
  await tried(6);
  t.exchange.behave = ({ target }) => ({ status: target.startsWith('/in/v2') ? 200 : 404 });
  await t.change({ address: t.exchange.url.replace('/in', '/in/v2') });
  await t.allDelivered();
});

test('follows no redirect [SEC-26]', async () => {
  const ids = await insertPatients(t.database.pool, t.place, 1);
  const elsewhere = await startExchange();
  t.exchange.behave = () => ({ status: 307, headers: { location: elsewhere.url } });
  await queue(t.database.pool, t.place, ids);
  t.work({ ...QUICK, retry: { ...QUICK.retry, delaysMs: [60_000] } });
  await t.until('the delivery waits', async () => (await t.heads())[0]?.attempts === 1);
  assert.equal(elsewhere.arrivals.length, 0);
  await elsewhere.close();
});

test('notes what each secret was last used for [EXC-48]', async () => {
  const [first = '', second = ''] = await insertPatients(t.database.pool, t.place, 2);
  await queue(t.database.pool, t.place, [first]);
  t.work();
  await t.allDelivered();
  const deps = {
    db: t.database.pool,
    keys: t.keys,
    now: new Date(),
    publicBaseUrl: 'http://localhost/api/v1',
  };
  await rotateSecret(deps, t.key(), { overlapSeconds: 60, activate: 'now' });
  await queue(t.database.pool, t.place, [second]);
  await t.allDelivered();
  const uses = async () => {
    const { rows } = await t.database.pool.query<{ last_used_at: Date | null; last_used_for: string | null }>(
      `select last_used_at, last_used_for from exchange_secret where organisation_id = $1 and direction = 'outbound'`,
      [t.place.organisationId],
    );
    return rows;
  };
  await t.until('both uses are noted', async () => (await uses()).every((use) => use.last_used_at !== null));
  for (const use of await uses()) assert.match(String(use.last_used_for), /^delivery [0-9a-f-]{36}$/);
});

test('stops when the connection is disabled and goes on when it is enabled', async () => {
  const ids = await insertPatients(t.database.pool, t.place, 1);
  await queue(t.database.pool, t.place, ids);
  await updateConnection(t.database.pool, t.key(), { disabled: true });
  t.work();
  await t.workersLook();
  assert.equal(t.exchange.arrivals.length, 0);
  await updateConnection(t.database.pool, t.key(), { disabled: false });
  await t.allDelivered();
});

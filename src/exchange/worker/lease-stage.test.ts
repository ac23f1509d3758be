/** What is leased is sent once, under its lease, and given back. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { insertPatients, QUICK, queue, rename } from '../../../test-support/exchange/exchange-records.ts';
import { useWorkers } from '../../../test-support/exchange/worker-test.ts';
import { waitUntil } from '../../../test-support/wait-until.ts';
import { updateConnection } from '../connections/connection.store.ts';
import { connectionStates } from '../queue/connection-state.store.ts';

const t = useWorkers();

test('gives back what it leased when it is stopped', async () => {
  const ids = await insertPatients(t.database.pool, t.place, 200);
  t.exchange.behave = () => ({ status: 200, delayMs: 100 });
  await queue(t.database.pool, t.place, ids);
  const worker = t.work();
  await t.exchange.waitFor(20);
  await worker.stop();
  const arrived = t.exchange.arrivals.length;
  const left = await t.heads();
  assert.equal(left.length, 200 - arrived, 'what was in flight is settled');
  assert.ok(left.every((head) => head.lease_token === null && head.attempts === 0));
  t.work();
  await t.allDelivered();
  assert.equal(new Set(t.exchange.arrivals.map(({ envelope }) => envelope.deliveryId)).size, 200);
  assert.equal(t.exchange.arrivals.length, 200, 'nothing was sent twice');
});

test('sends again, with the same delivery id, what a dead worker had leased, once that ended [EXC-8, EXC-50, EXC-55]', async () => {
  const ids = await insertPatients(t.database.pool, t.place, 1);
  await queue(t.database.pool, t.place, ids);
  await t.database.pool.query(
    `update exchange_head set lease_token = $2, leased_until = now() + interval '1 hour'
     where organisation_id = $1`,
    [t.place.organisationId, randomUUID()],
  );
  const [state] = await connectionStates(t.database.pool, t.place);
  assert.ok((state?.dueInMs ?? 0) > 0, 'it becomes due when the lease ends');
  t.work();
  await t.workersLook();
  assert.equal(t.exchange.arrivals.length, 0);
  await t.endLeases();
  await t.exchange.waitFor(1);
  await t.allDelivered();
});

test('leases no more of very large patients than fit in memory', async () => {
  const inFlight = 64;
  // Longer than a busy machine takes until all of them have arrived.
  await updateConnection(t.database.pool, t.key(), { maxInFlight: inFlight, timeoutMs: 120_000 });
  const ids = await insertPatients(t.database.pool, t.place, 150);
  await queue(t.database.pool, t.place, ids);
  await t.database.pool.query(
    `update exchange_delivery set body = body || repeat(' ', 1024 * 1024) where organisation_id = $1`,
    [t.place.organisationId],
  );
  const answer = Promise.withResolvers<void>();
  t.exchange.behave = () => ({ status: 200, after: answer.promise });
  t.work();
  await t.exchange.waitFor(inFlight);
  await t.workersLook();
  // Lanes that were leased without their envelope are given back while this looks.
  await t.until('at most 32 MiB wait in memory to be sent', async () => {
    const leased = (await t.heads()).filter((head) => head.lease_token !== null).length;
    return leased <= inFlight + 2 * 16;
  });
  answer.resolve();
  await t.allDelivered();
  assert.equal(t.exchange.arrivals.length, 150, 'each was sent once');
});

test('does not wait for a change under way, and settles once it is done', async () => {
  const [locked = '', free = ''] = await insertPatients(t.database.pool, t.place, 2);
  const answer = Promise.withResolvers<void>();
  t.exchange.behave = () => ({ status: 200, after: answer.promise });
  await queue(t.database.pool, t.place, [locked, free]);
  t.work();
  await t.exchange.waitFor(2);
  const client = await t.database.pool.connect();
  try {
    await client.query('begin');
    await client.query(
      'select from exchange_head where organisation_id = $1 and patient_id = $2 for update',
      [t.place.organisationId, locked],
    );
    answer.resolve();
    await t.until('the other is settled', async () => (await t.heads()).length === 1);
    const { length } = t.statements;
    const tries = () => t.statements.slice(length).filter((name) => name === 'exchange-settle').length;
    await waitUntil(() => tries() >= 2, 'what is locked is tried again');
  } finally {
    await client.query('commit');
    client.release();
  }
  await t.allDelivered();
  assert.equal((await t.attempts()).length, 2, 'one line each in the ledger');
  assert.equal(t.exchange.arrivals.length, 2);
});

test('begins no send under a lease that ended while the machine was suspended [EXC-15]', async () => {
  const [patient = ''] = await insertPatients(t.database.pool, t.place, 1);
  await queue(t.database.pool, t.place, [patient]);
  let asleepMs = 0;
  const leased: (string | null | undefined)[] = [];
  t.work(
    QUICK,
    async () => {
      leased.push((await t.heads())[0]?.lease_token);
      // Suspended between the trace and the send, for longer than the lease.
      if (leased.length === 1) asleepMs = 600_000;
    },
    () => new Date(Date.now() + asleepMs),
  );
  await t.allDelivered();
  assert.deepEqual((await t.attempts(patient)).map(({ outcome }) => outcome).sort(), ['delivered', 'unsent']);
  assert.equal(t.exchange.arrivals.length, 1);
  assert.equal(new Set(leased).size, 2, 'it was sent under another lease');
});

test('begins no send under a lease that ended while the trace was written', async () => {
  const [patient = ''] = await insertPatients(t.database.pool, t.place, 1);
  await queue(t.database.pool, t.place, [patient]);
  await updateConnection(t.database.pool, t.key(), { timeoutMs: 2_000 });
  let traces = 0;
  // It leaves the second send more time than a busy machine stands still.
  t.work({ ...QUICK, leaseMs: 6_000 }, async () => {
    traces += 1;
    if (traces > 1) return;
    const token = (await t.heads())[0]?.lease_token;
    await t.until('the lease has ended', async () => {
      const [head] = await t.heads();
      return head?.lease_token !== token || head?.lease_ended === true;
    });
  });
  await t.allDelivered();
  assert.equal(t.exchange.arrivals.length, 1);
  const outcomes = (await t.attempts(patient)).map(({ outcome }) => outcome);
  assert.deepEqual(outcomes.sort(), ['delivered', 'unsent']);
});

test('moves nothing by a result that comes after another worker took the lane over [EXC-15]', async () => {
  const [patient = ''] = await insertPatients(t.database.pool, t.place, 1);
  await queue(t.database.pool, t.place, [patient]);
  await rename(t.database.pool, t.place, [patient], 'second');
  await updateConnection(t.database.pool, t.key(), { timeoutMs: 5_000 });
  const refusal = Promise.withResolvers<void>();
  // The first send hangs; while it does, its lease ends and another takes the lane, as after a suspension.
  t.exchange.behave = () =>
    t.exchange.arrivals.length === 0 ? { status: 422, after: refusal.promise } : { status: 200 };
  t.work(QUICK);
  await t.exchange.waitFor(1);
  await t.endLeases();
  t.work(QUICK);
  await t.allDelivered();
  refusal.resolve();
  assert.deepEqual(
    t.exchange.arrivals.map(({ envelope }) => envelope.sequence),
    [1, 1, 2],
  );
  await t.until('the late refusal is in the ledger', async () => (await t.attempts(patient)).length === 3);
  assert.deepEqual(await t.heads(), [], 'but holds nothing');
});

test('goes on with what it had leased when its connection is changed meanwhile', async () => {
  const ids = await insertPatients(t.database.pool, t.place, 200);
  t.exchange.behave = () => ({ status: 200, delayMs: 40 });
  await queue(t.database.pool, t.place, ids);
  t.work();
  for (const count of [10, 60, 110]) {
    await t.exchange.waitFor(count);
    await updateConnection(t.database.pool, t.key(), { name: `Renamed at ${count}` });
  }
  await t.allDelivered();
  assert.equal(t.exchange.arrivals.length, 200, 'nothing was sent twice');
});

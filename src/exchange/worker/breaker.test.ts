/** An exchange that is down, or slow, is left alone and probed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connect, insertPatients, QUICK, queue } from '../../../test-support/exchange/exchange-records.ts';
import { startExchange } from '../../../test-support/exchange/exchange-server.ts';
import { useWorkers } from '../../../test-support/exchange/worker-test.ts';
import { createFacility, setModules } from '../../tenancy/organisations/facilities.ts';
import { updateConnection } from '../connections/connection.store.ts';
import { openBreaker } from './breaker.store.ts';

const t = useWorkers();

test('probes with the next patient at once when the first ones refuse the purpose', async () => {
  const refusing = await insertPatients(t.database.pool, t.place, 2);
  await t.database.pool.query(`update patient set refused_purposes = '{OPS}' where organisation_id = $1`, [
    t.place.organisationId,
  ]);
  await queue(t.database.pool, t.place, refusing);
  const [patient = ''] = await insertPatients(t.database.pool, t.place, 1);
  await queue(t.database.pool, t.place, [patient]);
  await openBreaker(t.database.pool, t.key(), 0);
  t.work();
  await t.until('the circuit is closed by a probe', async () => (await t.attempts(patient)).length === 1);
  assert.deepEqual(
    (await t.heads()).map(({ held_reason }) => held_reason),
    ['privacy_refused', 'privacy_refused'],
  );
});

test('probes past whatever may not be sent, however much of it there is, without waiting for the next look', async () => {
  const facility = (name: string) =>
    createFacility(t.database.pool, { organisationId: t.place.organisationId, name });
  const [{ id: off }, { id: dropped }] = [await facility('Off'), await facility('Dropped')];
  const queueAt = async (facilityId: string, count: number) => {
    const ids = await insertPatients(t.database.pool, { ...t.place, facilityId }, count);
    await queue(t.database.pool, { ...t.place, facilityId }, ids);
    return ids;
  };
  await queueAt(off, 70);
  await queueAt(dropped, 70);
  const refusing = await queueAt(t.place.facilityId, 70);
  await t.database.pool.query(
    `update patient set refused_purposes = '{OPS}' where organisation_id = $1 and id = any($2)`,
    [t.place.organisationId, refusing],
  );
  const fine = await queueAt(t.place.facilityId, 40);
  await setModules(t.database.pool, { ...t.place, facilityId: off, modules: [] });
  await updateConnection(t.database.pool, t.key(), { facilityIds: [t.place.facilityId, off] });
  await openBreaker(t.database.pool, t.key(), 0);
  t.exchange.behave = () => ({ status: 503 });
  t.work({ ...QUICK, pollMs: 60_000, breaker: { ...QUICK.breaker, probeMs: 60_000, maxProbeMs: 60_000 } });
  await t.exchange.waitFor(1);
  let left = await t.heads();
  const count = (reason: string | null, due: boolean) =>
    left.filter((head) => head.held_reason === reason && (head.due_at !== null) === due).length;
  await t.until('everything that was leased is settled', async () => {
    left = await t.heads();
    return count(null, false) === 70 && left.every((head) => head.lease_token === null);
  });
  assert.equal(t.exchange.arrivals.length, 1, 'one delivery probes');
  assert.deepEqual(
    [count(null, false), count('facility_not_covered', false), count('privacy_refused', false)],
    [70, 70, 70],
  );
  const others = left.filter((head) => fine.includes(head.patient_id));
  assert.ok(others.every((head) => head.lease_token === null && head.attempts === 0));
  assert.equal(others.length, 40);
});

test('opens the circuit while an exchange is down, uses up no tries, and goes on when it is back [EXC-20, EXC-21]', async () => {
  const ids = await insertPatients(t.database.pool, t.place, 40);
  let down = true;
  let gate: Promise<void> | undefined;
  t.exchange.behave = () => (down && gate === undefined ? 'drop' : { status: down ? 503 : 200, after: gate });
  await queue(t.database.pool, t.place, ids);
  t.work();
  await t.until('the circuit is open', async () => {
    const { rows } = await t.database.pool.query(
      'select opened_at from exchange_circuit where organisation_id = $1',
      [t.place.organisationId],
    );
    return rows[0]?.opened_at !== null;
  });
  await t.until('nothing but probes is sent', async () =>
    (await t.heads()).every((head) => head.lease_token === null),
  );
  await t.exchange.waitFor(t.exchange.arrivals.length + 2);
  const answer = Promise.withResolvers<void>();
  gate = answer.promise;
  const before = t.exchange.arrivals.length;
  await t.exchange.waitFor(before + 1);
  await t.workersLook();
  assert.equal(t.exchange.arrivals.length, before + 1, 'one probe at a time');
  answer.resolve();
  await t.exchange.waitFor(before + 2);
  const used = (await t.attempts()).filter(({ counted }) => counted);
  assert.ok(used.length <= 20, `tries used up: ${used.length}`);
  assert.ok((await t.heads()).every((head) => head.attempts <= 1 && head.held_reason === null));
  down = false;
  await t.allDelivered();
  const { rows } = await t.database.pool.query(
    'select opened_at from exchange_circuit where organisation_id = $1',
    [t.place.organisationId],
  );
  assert.equal(rows[0]?.opened_at, null);
});

test('leaves an exchange that asks for time alone for as long, with every patient, or until the connection is changed [EXC-17]', async () => {
  const probeInMs = async () => {
    const { rows } = await t.database.pool.query<{ ms: number }>(
      `select extract(epoch from probe_at - now())::double precision * 1000 as ms
       from exchange_circuit where organisation_id = $1 and opened_at is not null`,
      [t.place.organisationId],
    );
    return rows[0]?.ms ?? 0;
  };
  const ids = await insertPatients(t.database.pool, t.place, 40);
  t.exchange.behave = () => ({ status: 503, headers: { 'retry-after': '3600' } });
  await queue(t.database.pool, t.place, ids);
  t.work();
  await t.until('the circuit is open', async () => (await probeInMs()) > 0);
  await settled();
  const before = t.exchange.arrivals.length;
  assert.ok((await probeInMs()) > 3_000_000, 'as the failure that opened it asked');
  await t.workersLook();
  assert.equal(t.exchange.arrivals.length, before, 'no probe comes sooner');
  t.exchange.behave = () => ({ status: 429, headers: { 'retry-after': '7200' } });
  await t.change({ disabled: false });
  await t.exchange.waitFor(before + 1);
  await t.until('the probe asked for more time', async () => (await probeInMs()) > 7_190_000);
  t.exchange.behave = () => ({ status: 503, headers: { 'retry-after': '99999999' } });
  await t.change({ disabled: false });
  await t.exchange.waitFor(before + 2);
  await t.until('the limit is a day', async () => (await probeInMs()) > 86_390_000);
  assert.ok((await probeInMs()) <= 86_400_000);
  await settled();
  t.exchange.behave = () => ({ status: 200 });
  await t.change({ disabled: false });
  await t.allDelivered();
});

test('tries again at once when the connection is changed, also when all that waits was told to wait [EXC-17]', async () => {
  const ids = await insertPatients(t.database.pool, t.place, 5);
  t.exchange.behave = () => ({ status: 503, headers: { 'retry-after': '86400' } });
  await queue(t.database.pool, t.place, ids);
  t.work();
  await t.until('the circuit is open', isOpen);
  await settled();
  t.exchange.behave = () => ({ status: 200 });
  await t.change({ disabled: false });
  await t.allDelivered();
  assert.equal(await isOpen(), false);
});

test('does not let the answer of an address that was changed meanwhile keep back the new one [EXC-17]', async () => {
  const ids = await insertPatients(t.database.pool, t.place, 8);
  await queue(t.database.pool, t.place, ids);
  await openBreaker(t.database.pool, t.key(), 0);
  await changeAddressDuringTry();
  await t.exchange.waitFor(8);
  assert.ok(t.exchange.arrivals.slice(1).every(({ target }) => target.startsWith('/new')));
});

test('does not let the answer of an address that was changed meanwhile keep back its own delivery [EXC-17]', async () => {
  const ids = await insertPatients(t.database.pool, t.place, 1);
  await queue(t.database.pool, t.place, ids);
  await changeAddressDuringTry();
  await t.exchange.waitFor(2);
  assert.ok(t.exchange.arrivals[1]?.target.startsWith('/new'));
});

test('does not hold a delivery whose last try was at an address that was changed meanwhile [EXC-17]', async () => {
  const ids = await insertPatients(t.database.pool, t.place, 1);
  await queue(t.database.pool, t.place, ids);
  await t.database.pool.query('update exchange_head set attempts = 8 where organisation_id = $1', [
    t.place.organisationId,
  ]);
  await changeAddressDuringTry();
  await t.exchange.waitFor(2);
  assert.ok(t.exchange.arrivals[1]?.target.startsWith('/new'));
});

/** The exchange answers its first try, with a long wait, once the connection has another address; there it takes all. */
async function changeAddressDuringTry(): Promise<void> {
  const changed = Promise.withResolvers<void>();
  t.exchange.behave = () => ({ status: 503, headers: { 'retry-after': '86400' }, after: changed.promise });
  t.work();
  await t.exchange.waitFor(1);
  const address = t.exchange.url.replace('/in', '/new');
  await updateConnection(t.database.pool, t.key(), { address, operatorAddress: true });
  await t.workersLook();
  t.exchange.behave = () => ({ status: 200 });
  changed.resolve();
}

async function settled(): Promise<void> {
  await t.until('what was in flight is settled', async () =>
    (await t.heads()).every((head) => head.lease_token === null),
  );
}

async function isOpen(): Promise<boolean> {
  const { rows } = await t.database.pool.query(
    'select from exchange_circuit where organisation_id = $1 and opened_at is not null',
    [t.place.organisationId],
  );
  return rows.length === 1;
}

test('never takes an exchange for down because of one patient [EXC-22]', async () => {
  const [bad = '', good = ''] = await insertPatients(t.database.pool, t.place, 2);
  t.exchange.behave = ({ envelope }) => ({ status: envelope.resource.id === bad ? 503 : 200 });
  await queue(t.database.pool, t.place, [bad]);
  t.work();
  await t.until('it is held', async () => (await t.heads())[0]?.held_reason === 'retries_exhausted');
  await queue(t.database.pool, t.place, [good]);
  await t.until('the other is delivered', async () => (await t.heads()).length === 1);
  assert.ok((await t.attempts(bad)).every(({ counted }) => counted));
});

test('is not slowed by another exchange that hangs [EXC-23]', async (context) => {
  const hanging = await startExchange();
  context.after(() => hanging.close());
  const gate = Promise.withResolvers<void>();
  context.after(() => gate.resolve());
  hanging.behave = () => ({ status: 200, after: gate.promise });
  const other = await connect({ pool: t.database.pool, keys: t.keys }, t.place, {
    address: hanging.url,
    timeoutMs: 60_000,
  });
  const ids = await insertPatients(t.database.pool, t.place, 300);
  await queue(t.database.pool, t.place, ids);
  t.work();
  await t.exchange.waitFor(300);
  await hanging.waitFor(16);
  assert.equal(hanging.arrivals.length, 16, 'no more than its limit in flight, none of them answered');
  gate.resolve();
  await updateConnection(t.database.pool, { ...t.key(), connectionId: other.id }, { disabled: true });
  await t.stopWorkers();
});

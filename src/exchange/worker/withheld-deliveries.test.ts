/** What may not be sent: by privacy, by address, by module, by facility. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connect, insertPatients, queue, rename } from '../../../test-support/exchange/exchange-records.ts';
import { useWorkers } from '../../../test-support/exchange/worker-test.ts';
import { waitUntil } from '../../../test-support/wait-until.ts';
import { createFacility, setModules } from '../../tenancy/organisations/facilities.ts';
import { updateConnection } from '../connections/connection.store.ts';
import { decide } from '../review/review.store.ts';

const t = useWorkers();

test('withholds and logs what the privacy of the patient refuses [EXC-27]', async () => {
  const [id = ''] = await insertPatients(t.database.pool, t.place, 1);
  await queue(t.database.pool, t.place, [id]);
  await t.database.pool.query(
    `update patient set refused_purposes = '{OPS}' where organisation_id = $1 and id = $2`,
    [t.place.organisationId, id],
  );
  t.work();
  await t.until('it is held', async () => (await t.heads())[0]?.held_reason === 'privacy_refused');
  assert.equal(t.exchange.arrivals.length, 0);
  assert.deepEqual(
    t.entries.map(({ outcome }) => outcome),
    ['refused'],
  );
  assert.deepEqual(
    (await t.attempts()).map(({ outcome }) => outcome),
    ['withheld'],
  );
});

test('sends to no address inside that an operator did not set [SEC-25]', async () => {
  const ids = await insertPatients(t.database.pool, t.place, 1);
  await queue(t.database.pool, t.place, ids);
  await updateConnection(t.database.pool, t.key(), { address: t.exchange.url, operatorAddress: false });
  t.work();
  await waitUntil(() => t.statements.includes('exchange-connection-settings'), 'its address is read');
  await t.workersLook();
  assert.equal(t.exchange.arrivals.length, 0);
  await updateConnection(t.database.pool, t.key(), { address: t.exchange.url, operatorAddress: true });
  await t.allDelivered();
  assert.equal(t.exchange.arrivals.length, 1);
});

test('sends nothing of a facility while its exchange module is off, and goes on when it is on again [EXC-25]', async () => {
  const { id: other } = await createFacility(t.database.pool, {
    organisationId: t.place.organisationId,
    name: 'Other',
  });
  const [off = ''] = await insertPatients(t.database.pool, t.place, 1);
  const [on = ''] = await insertPatients(t.database.pool, { ...t.place, facilityId: other }, 1);
  await queue(t.database.pool, t.place, [off]);
  await queue(t.database.pool, { ...t.place, facilityId: other }, [on]);
  await rename(t.database.pool, t.place, [off], 'second');
  await setModules(t.database.pool, { ...t.place, modules: ['patients'] });
  t.work();
  await t.exchange.waitFor(1);
  await t.workersLook();
  assert.deepEqual(
    t.exchange.arrivals.map(({ envelope }) => envelope.resource.id),
    [on],
  );
  assert.deepEqual(
    t.entries.map(({ patientId }) => patientId),
    [on],
    'nor is it an access',
  );
  const [waiting] = await t.heads();
  assert.deepEqual([waiting?.sequence, waiting?.due_at, waiting?.held_reason], [1, null, null]);
  assert.equal((await t.attempts(off)).length, 0);
  await setModules(t.database.pool, { ...t.place, modules: ['patients', 'exchange'] });
  await t.allDelivered();
  assert.deepEqual(
    t.exchange.arrivals.slice(1).map(({ envelope }) => envelope.sequence),
    [1, 2],
  );
});

test('holds what is queued for a facility that the connection covers no more, and sends it on replay', async () => {
  const { id: other } = await createFacility(t.database.pool, {
    organisationId: t.place.organisationId,
    name: 'Other',
  });
  const [patient = ''] = await insertPatients(t.database.pool, t.place, 1);
  await queue(t.database.pool, t.place, [patient]);
  await updateConnection(t.database.pool, t.key(), { facilityIds: [other] });
  const { pool } = t.database;
  const facilityIds = [t.place.facilityId];
  // That another connection covers it says nothing.
  await connect({ pool, keys: t.keys }, t.place, { address: t.exchange.url, facilityIds });
  t.work();
  await t.until('it is held', async () => (await t.heads())[0]?.held_reason === 'facility_not_covered');
  assert.equal(t.exchange.arrivals.length, 0);
  assert.equal(t.entries.length, 0);
  await updateConnection(t.database.pool, t.key(), { facilityIds: null });
  const decision = { action: 'replay', reason: null, accountId: null } as const;
  await decide(t.database.pool, t.place, { filter: {}, decision });
  await t.allDelivered();
  assert.equal(t.exchange.arrivals.length, 1);
});

test('lets what waits for a module be decided on once the facility is not covered', async () => {
  const { id: other } = await createFacility(t.database.pool, {
    organisationId: t.place.organisationId,
    name: 'Other',
  });
  const [patient = ''] = await insertPatients(t.database.pool, t.place, 1);
  await queue(t.database.pool, t.place, [patient]);
  await setModules(t.database.pool, { ...t.place, modules: [] });
  t.work();
  await t.until('it waits', async () => (await t.heads())[0]?.due_at === null);
  await updateConnection(t.database.pool, t.key(), { facilityIds: [other] });
  await t.until('it is held', async () => (await t.heads())[0]?.held_reason === 'facility_not_covered');
  assert.equal(t.exchange.arrivals.length, 0);
});

/** What an exchange was not sent is queued at a command. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { needsPlainPostgres } from '../../../test-support/database/plain-postgres.ts';
import { countRead } from '../../../test-support/database/rows-read.ts';
import { connect, insertPatients, queue, rename } from '../../../test-support/exchange/exchange-records.ts';
import { useWorkers } from '../../../test-support/exchange/worker-test.ts';
import { waitForLock } from '../../../test-support/wait-until.ts';
import { lockPatients } from '../../patients/patient.store.ts';
import { createFacility, setModules } from '../../tenancy/organisations/facilities.ts';
import { type CoveredPatient, coveredPatients, openConnections } from './outbox.store.ts';
import { type ResyncOptions, resync } from './resync.ts';

const PLAIN = needsPlainPostgres('a node counts what it reads, and the coordinator does not know');

const t = useWorkers();

function run(options: Partial<ResyncOptions> = {}) {
  return resync(t.database.pool, t.key(), {
    name: 'Test exchange',
    dryRun: false,
    onProgress: () => undefined,
    stop: new AbortController().signal,
    ...options,
  });
}

/** In a transaction, as one that changes this patient. */
async function lockingPatient(id = '') {
  const client = await t.database.pool.connect();
  await client.query('begin');
  await lockPatients(client, t.place, [id]);
  return client;
}

async function deliveries() {
  const { rows } = await t.database.pool.query<{ connection_id: string; facility_id: string }>(
    'select connection_id, facility_id from exchange_delivery where organisation_id = $1 order by sequence',
    [t.place.organisationId],
  );
  return rows;
}

async function recorded(): Promise<number> {
  const { rows } = await t.database.pool.query(
    "select from administration_audit where organisation_id = $1 and action = 'connection.resync'",
    [t.place.organisationId],
  );
  return rows.length;
}

test('patients who were there before the connection are queued once, for it alone, and each run is on record [EXC-58]', async () => {
  const ids = await insertPatients(t.database.pool, t.place, 510);
  await connect({ pool: t.database.pool, keys: t.keys }, t.place, { address: t.exchange.url });
  await queue(t.database.pool, t.place, ids.slice(0, 3));
  const setDisabled = (at: string) =>
    t.database.pool.query(`update exchange_connection set disabled_at = ${at} where id = $1`, [
      t.connection.id,
    ]);
  await setDisabled('now()');
  await queue(t.database.pool, t.place, ids.slice(3, 4));
  await setDisabled('null');
  const before = await deliveries();
  assert.equal(before.length, 7);
  assert.deepEqual(await run({ dryRun: true }), { patients: 510, queued: 507, closedFacilities: [] });
  assert.deepEqual([await deliveries(), await recorded()], [before, 0], 'a dry run changes nothing');
  assert.deepEqual(await run(), { patients: 510, queued: 507, closedFacilities: [] });
  const added = (await deliveries()).filter((row) => row.connection_id === t.connection.id);
  assert.equal(added.length, 510);
  assert.deepEqual(await run(), { patients: 510, queued: 0, closedFacilities: [] });
  assert.equal(await recorded(), 2);
  t.work();
  await t.exchange.waitFor(510);
});

test('patients who changed while the module was off are queued, as of the facility of their last delivery [EXC-58]', async () => {
  const { organisationId } = t.place;
  const { id: other } = await createFacility(t.database.pool, { organisationId, name: 'Other' });
  const [moved = '', still = ''] = await insertPatients(t.database.pool, t.place, 2);
  await t.database.pool.query(
    'insert into patient_registration (organisation_id, facility_id, patient_id) values ($1, $2, $3)',
    [organisationId, other, moved],
  );
  const both = [t.place, { organisationId, facilityId: other }];
  for (const at of both) {
    await queue(t.database.pool, at, [moved, still]);
    await rename(t.database.pool, at, [moved], at.facilityId);
  }
  for (const at of both) await setModules(t.database.pool, { ...at, modules: ['patients'] });
  await assert.rejects(run(), { code: 'no_open_facility' });
  await rename(t.database.pool, t.place, [moved], 'changed while off');
  for (const at of both) await setModules(t.database.pool, { ...at, modules: ['exchange'] });
  const before = await deliveries();
  assert.deepEqual(await run(), { patients: 2, queued: 1, closedFacilities: [] });
  const after = await deliveries();
  assert.equal(after.length, before.length + 1);
  assert.equal(after.at(-1)?.facility_id, other);
});

test('it names the facilities that it leaves out, and ends before the next page when it is stopped [EXC-58]', async () => {
  const { organisationId } = t.place;
  const { id } = await createFacility(t.database.pool, { organisationId, name: 'Closed' });
  await setModules(t.database.pool, { organisationId, facilityId: id, modules: ['patients'] });
  await insertPatients(t.database.pool, { organisationId, facilityId: id }, 1);
  await insertPatients(t.database.pool, t.place, 510);
  const closedFacilities = [{ id, name: 'Closed' }];
  const stop = new AbortController();
  const stopped = await run({ stop: stop.signal, onProgress: () => stop.abort() });
  assert.deepEqual(stopped, { patients: 500, queued: 500, closedFacilities });
  assert.deepEqual(await run(), { patients: 510, queued: 10, closedFacilities });
});

test('it fails when the connection is disabled before all patients were looked at, and goes on later [EXC-58]', async () => {
  const { pool } = t.database;
  const ids = (await insertPatients(pool, t.place, 510)).sort();
  const client = await lockingPatient(ids.at(-1));
  const failed = assert.rejects(run(), { code: 'closed_meanwhile' });
  await waitForLock(pool);
  await t.change({ disabled: true });
  await client.query('rollback');
  client.release();
  await failed;
  assert.equal((await deliveries()).length, 500);
  await t.change({ disabled: false });
  assert.deepEqual(await run(), { patients: 510, queued: 10, closedFacilities: [] });
});

test('an import that locks patients in another order does not end it [EXC-58]', async () => {
  const { pool } = t.database;
  const [first, second] = (await insertPatients(pool, t.place, 2)).sort();
  const client = await lockingPatient(second);
  const done = run();
  await waitForLock(pool);
  // A deadlock. PostgreSQL ends the one that waited first, or on a busy machine this one.
  await lockPatients(client, t.place, [first ?? '']).catch(() => undefined);
  await client.query('rollback');
  client.release();
  assert.deepEqual(await done, { patients: 2, queued: 2, closedFacilities: [] });
});

test(
  'a page of covered patients reads a page of each facility, however many come after it',
  PLAIN,
  async () => {
    const { organisationId } = t.place;
    const { id: other } = await createFacility(t.database.pool, { organisationId, name: 'Other' });
    await setModules(t.database.pool, { organisationId, facilityId: other, modules: ['exchange'] });
    const ids = await insertPatients(t.database.pool, t.place, 1_000);
    ids.push(...(await insertPatients(t.database.pool, { organisationId, facilityId: other }, 1_000)));
    const [connection] = await openConnections(t.database.pool, t.place, t.connection.id);
    assert.ok(connection);
    const found: CoveredPatient[] = [];
    const { read } = await countRead(t.database.pool, async (client) => {
      for (let last = '00000000-0000-0000-0000-000000000000'; found.length < ids.length; ) {
        found.push(...(await coveredPatients(client, t.place, { connection, after: last, limit: 100 })));
        last = found.at(-1)?.patientId ?? last;
      }
    });
    assert.deepEqual(
      found.map(({ patientId }) => patientId),
      ids.sort(),
    );
    const count = read('patient_registration');
    assert.ok(count <= 20 * 2 * 101, `${count} registrations were read`);
  },
);

/** Which changes of patients are queued, and for whom. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connect, insertPatients, queue, rename } from '../../../test-support/exchange/exchange-records.ts';
import { useWorkers } from '../../../test-support/exchange/worker-test.ts';
import { createFacility, setModules } from '../../tenancy/organisations/facilities.ts';
import { updateConnection } from '../connections/connection.store.ts';

const t = useWorkers();

const sequences = async () => {
  const { rows } = await t.database.pool.query<{
    event: string;
    sequence: number;
    facility_id: string;
    connection_id: string;
  }>(
    'select event, sequence, facility_id, connection_id from exchange_delivery where organisation_id = $1 order by id',
    [t.place.organisationId],
  );
  return rows;
};

test('queues nothing when the emitted Patient stays as it was [EXC-3]', async () => {
  const ids = await insertPatients(t.database.pool, t.place, 2);
  assert.equal(await queue(t.database.pool, t.place, ids), 2);
  assert.equal(await queue(t.database.pool, t.place, ids, 'updated'), 0);
  assert.equal(await rename(t.database.pool, t.place, ids, '0'), 0, 'a new version of the same content');
  assert.equal(await rename(t.database.pool, t.place, ids, '1'), 2);
  assert.equal(await rename(t.database.pool, t.place, ids, '0'), 2, 'back again is a change');
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
  const ids = await insertPatients(t.database.pool, t.place, 1);
  const client = await t.database.pool.connect();
  try {
    await client.query('begin');
    const { enqueuePatientChanges } = await import('../queue/enqueue-patient-changes.ts');
    assert.equal(
      await enqueuePatientChanges(client, t.place, [{ patientId: ids[0] ?? '', event: 'created' }]),
      1,
    );
  } finally {
    await client.query('rollback');
    client.release();
  }
  assert.deepEqual(await t.heads(), []);
  assert.deepEqual(await sequences(), []);
});

test('writes one delivery for each connection that covers a facility of the patient [EXC-2, EXC-6]', async () => {
  const { id: otherFacility } = await createFacility(t.database.pool, {
    organisationId: t.place.organisationId,
    name: 'Other',
  });
  const { id: third } = await createFacility(t.database.pool, {
    organisationId: t.place.organisationId,
    name: 'Third',
  });
  const only = await connect({ pool: t.database.pool, keys: t.keys }, t.place, {
    address: t.exchange.url,
    facilityIds: [otherFacility],
  });
  await connect({ pool: t.database.pool, keys: t.keys }, t.place, {
    address: t.exchange.url,
    facilityIds: [third],
  });
  const [both = '', one = ''] = await insertPatients(t.database.pool, t.place, 2);
  await t.database.pool.query(
    'insert into patient_registration (organisation_id, facility_id, patient_id) values ($1, $2, $3)',
    [t.place.organisationId, otherFacility, both],
  );
  assert.equal(await queue(t.database.pool, t.place, [both, one]), 3);
  const rows = await sequences();
  assert.deepEqual(
    rows.filter((row) => row.connection_id === only.id).map((row) => row.facility_id),
    [otherFacility],
  );
  assert.equal(rows.filter((row) => row.connection_id === t.connection.id).length, 2);
});

test('writes none for a disabled connection or a facility without the exchange module [EXC-4]', async () => {
  const ids = await insertPatients(t.database.pool, t.place, 1);
  await updateConnection(t.database.pool, t.key(), { disabled: true });
  assert.equal(await queue(t.database.pool, t.place, ids), 0);
  await updateConnection(t.database.pool, t.key(), { disabled: false });
  await setModules(t.database.pool, { ...t.place, modules: ['patients'] });
  assert.equal(await queue(t.database.pool, t.place, ids), 0);
  await setModules(t.database.pool, { ...t.place, modules: ['exchange'] });
  assert.equal(await queue(t.database.pool, t.place, ids), 1);
});

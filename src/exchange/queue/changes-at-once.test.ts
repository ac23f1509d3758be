/** Two changes of one patient at once: the delivery that is queued last has the patient as it is afterwards. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { useWorkers } from '../../../test-support/exchange/worker-test.ts';
import { patient } from '../../../test-support/records/clinic.ts';
import { sourceOf } from '../../../test-support/records/import.ts';
import { waitForLock } from '../../../test-support/wait-until.ts';
import { transaction } from '../../platform/db/database.ts';
import { importRecords } from '../../records/import/import-records.ts';
import { createFacility } from '../../tenancy/organisations/facilities.ts';
import { enqueuePatientChanges } from './enqueue-patient-changes.ts';

const t = useWorkers();

/** `onPatients` is awaited before the import commits, once its deliveries are queued. */
function importPatient(
  facilityId: string,
  resource: object,
  onPatients: () => Promise<void> = async () => undefined,
) {
  return importRecords(
    { db: t.database.pool, onPatientsChanged: enqueuePatientChanges },
    {
      scope: { organisationId: t.place.organisationId, facilityId, timeZone: 'UTC' },
      sources: [sourceOf('patient.json', resource)],
      onPatients,
    },
  );
}

/** The deliveries of one patient, with a member of each Patient. */
async function queued(member: string) {
  const { rows } = await t.database.pool.query<{ sequence: number; birthDate?: string }>(
    `select sequence, body::json -> 'resource' ->> '${member}' as "${member}"
     from exchange_delivery
     where organisation_id = $1
     order by sequence`,
    [t.place.organisationId],
  );
  return rows;
}

test('a facility that registers a patient while another one changes the patient queues no older state [EXC-2, EXC-13]', async () => {
  const { pool } = t.database;
  const { organisationId, facilityId } = t.place;
  const { id: second } = await createFacility(pool, { organisationId, name: 'Second' });
  const before = patient();
  const after = { ...before, birthDate: '1984-05-02' };
  await importPatient(facilityId, before);
  let registering: ReturnType<typeof importPatient> | undefined;
  await importPatient(facilityId, after, async () => {
    registering = importPatient(second, before);
    await waitForLock(pool);
  });
  await registering;
  assert.deepEqual(await queued('birthDate'), [
    { sequence: 1, birthDate: '1984-05-01' },
    { sequence: 2, birthDate: '1984-05-02' },
  ]);
});

test('of two deliveries of a patient the later one says no earlier time [EXC-13]', async () => {
  const { pool } = t.database;
  const { organisationId, facilityId } = t.place;
  const { id: second } = await createFacility(pool, { organisationId, name: 'Second' });
  const other = patient();
  const linked = patient({ link: [{ other: { reference: `Patient/${other.id}` }, type: 'seealso' }] });
  const [{ system, value } = { system: '', value: '' }] = linked.identifier as {
    system: string;
    value: string;
  }[];
  await importPatient(facilityId, other);
  await importPatient(facilityId, linked);
  const ifNoneExist = `identifier=${encodeURIComponent(`${system}|${value}`)}`;
  // Its facility does not see whom the patient is linked to, so that the Patient that it queues is another one.
  const bundle = {
    resourceType: 'Bundle',
    type: 'transaction',
    entry: [{ resource: patient(), request: { method: 'POST', url: 'Patient', ifNoneExist } }],
  };
  let registering: ReturnType<typeof importPatient> | undefined;
  await transaction(pool, async (client) => {
    await client.query('select from patient where id = $1 for no key update', [linked.id]);
    registering = importPatient(second, bundle);
    await waitForLock(pool);
    await client.query("update patient set birth_date = '1984-05-03', version = version + 1 where id = $1", [
      linked.id,
    ]);
    await enqueuePatientChanges(client, t.place, [{ patientId: String(linked.id), event: 'updated' }]);
  });
  await registering;
  const { rows } = await pool.query<{ occurred_at: Date }>(
    'select occurred_at from exchange_delivery where patient_id = $1 order by sequence',
    [linked.id],
  );
  assert.equal(rows.length, 3);
  const times = rows.map((row) => row.occurred_at.getTime());
  assert.deepEqual(times, times.toSorted());
});

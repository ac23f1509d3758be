/** Two changes of one patient at once: the delivery that is queued last has the patient as it is afterwards. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { useWorkers } from '../../../test-support/exchange/worker-test.ts';
import { patient } from '../../../test-support/records/clinic.ts';
import { waitForLock } from '../../../test-support/wait-until.ts';
import { spoolSource } from '../../records/import/import-paths.ts';
import { importRecords } from '../../records/import/import-records.ts';
import { memorySpool } from '../../records/import/source/spool.ts';
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
      sources: [spoolSource('patient.json', memorySpool(Buffer.from(JSON.stringify(resource))))],
      onPatients,
    },
  );
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
  const { rows } = await pool.query(
    `select sequence, body::json -> 'resource' ->> 'birthDate' as "birthDate"
     from exchange_delivery
     where organisation_id = $1
     order by sequence`,
    [organisationId],
  );
  assert.deepEqual(rows, [
    { sequence: 1, birthDate: '1984-05-01' },
    { sequence: 2, birthDate: '1984-05-02' },
  ]);
});

/** The ids that exchanges assign appear wherever a patient is shown. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { insertPatient } from '../../test-support/records/clinical-records.ts';
import { useTestApi } from '../../test-support/service/use-api.ts';

const { api, tenant, account } = await useTestApi({
  permissions: ['patients.patients.list', 'patients.patients.get'],
});

const call = (path: string) => api.call(path, { token: account.token });

/** A connection of the tenant. Returns its id. */
async function insertConnection(name: string): Promise<string> {
  const id = randomUUID();
  await api.database.pool.query(
    `insert into exchange_connection
       (organisation_id, id, name, address, client_id, identifier_system, all_facilities)
     values ($1, $2, $3, 'https://hie.example/in', 'client', $4, true)`,
    [tenant.organisationId, id, name, `urn:uuid:${id}`],
  );
  return id;
}

async function assign(patientId: string, connectionId: string, value: string, at: string): Promise<void> {
  const { pool } = api.database;
  const { organisationId } = tenant;
  await pool.query(
    `insert into patient_assigned_identifier
       (organisation_id, patient_id, connection_id, system, value, search_key, assigner, assigned_at)
     select $1, $2, id, identifier_system, $4, lower($4), name, $5
     from exchange_connection
     where organisation_id = $1 and id = $3`,
    [organisationId, patientId, connectionId, value, at],
  );
  await pool.query(
    `insert into patient_search_key (organisation_id, patient_id, kind, key) values ($1, $2, 'identifier', lower($3))`,
    [organisationId, patientId, value],
  );
}

test('the assigned ids follow those of the source, on the patient, in lists and in the FHIR Patient [PAT-8]', async () => {
  const [first, second] = [
    await insertConnection('North exchange'),
    await insertConnection('South exchange'),
  ];
  const patientId = await insertPatient(api.database.pool, tenant, {
    names: [{ family: 'Berg' }],
    identifiers: [{ system: 'urn:mrn', value: '42' }],
  });
  await assign(patientId, second, 'SOUTH9', '2026-01-02T00:00:00Z');
  await assign(patientId, first, 'NORTH7', '2026-01-01T00:00:00Z');
  const expected = [
    { system: 'urn:mrn', value: '42' },
    { system: `urn:uuid:${first}`, value: 'NORTH7', assigner: { display: 'North exchange' } },
    { system: `urn:uuid:${second}`, value: 'SOUTH9', assigner: { display: 'South exchange' } },
  ];
  assert.deepEqual((await call(`/patients/base/${patientId}`)).json.identifiers, expected);
  assert.deepEqual((await call(`/patients/base/${patientId}/clinical/fhir`)).json.identifier, expected);
  for (const search of ['berg', 'north7', 'SOUTH9']) {
    const { items } = (await call(`/patients/base?search=${search}`)).json;
    assert.deepEqual(
      items.map((item: { id: string; identifiers: object[] }) => [item.id, item.identifiers]),
      [[patientId, expected]],
      search,
    );
  }
});

test('a patient whose source gave no identifier has the assigned one [PAT-8]', async () => {
  const connection = await insertConnection('West exchange');
  const patientId = await insertPatient(api.database.pool, tenant, { names: [{ family: 'Lund' }] });
  await assign(patientId, connection, 'WEST1', '2026-01-01T00:00:00Z');
  const assigned = {
    system: `urn:uuid:${connection}`,
    value: 'WEST1',
    assigner: { display: 'West exchange' },
  };
  assert.deepEqual((await call(`/patients/base/${patientId}`)).json.identifiers, [assigned]);
});

test('an assigned id shows and finds nobody whose privacy refuses the purpose', async () => {
  const connection = await insertConnection('East exchange');
  const patientId = await insertPatient(api.database.pool, tenant, { refusedPurposes: ['OPS'] });
  await assign(patientId, connection, 'EAST3', '2026-01-01T00:00:00Z');
  assert.equal((await call(`/patients/base/${patientId}`)).status, 403);
  assert.deepEqual((await call('/patients/base?search=EAST3')).json.items, []);
  const treated = await call('/patients/base?search=EAST3&purposeOfUse=TREATMENT');
  assert.equal(treated.json.items[0]?.identifiers[0]?.value, 'EAST3');
});

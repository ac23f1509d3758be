import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { insertPatient } from '../../test-support/records/clinical-records.ts';
import { useTestApi } from '../../test-support/service/use-api.ts';

const FORMS = ['', '/clinical/fhir'];

const { api, tenant, account } = await useTestApi({ permissions: ['patients.patients.get'] });
const patientId = await insertPatient(api.database.pool, tenant, {
  names: [{ use: 'official', family: 'Öz', given: ['Ada'], period: { start: '2001' } }],
  identifiers: [{ system: 'urn:mrn', value: '42' }],
  telecoms: [{ system: 'email', value: 'ada@example.org' }],
  gender: 'female',
  birthDate: '1980-02-29',
  refusedPurposes: ['RESEARCH'],
});

const read = (id: string, form = '', query = '', token = account.token) =>
  api.call(`/patients/base/${id}${form}${query}`, { token });

const HELD = {
  name: [{ use: 'official', family: 'Öz', given: ['Ada'], period: { start: '2001' } }],
  identifier: [{ system: 'urn:mrn', value: '42' }],
  telecom: [{ system: 'email', value: 'ada@example.org' }],
};

test('a patient is answered with everything that is known [PAT-6]', async () => {
  const answer = await read(patientId);
  assert.equal(answer.status, 200);
  const { updatedAt, ...patient } = answer.json;
  assert.match(updatedAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/);
  assert.deepEqual(patient, {
    id: patientId,
    name: 'Ada Öz',
    gender: 'female',
    birthDate: '1980-02-29',
    deceased: false,
    identifiers: HELD.identifier,
    replacedBy: null,
    replaces: [],
    active: null,
    deceasedDateTime: null,
    names: HELD.name,
    telecoms: HELD.telecom,
    addresses: [],
    maritalStatus: null,
    multipleBirth: null,
    communication: [],
    contacts: [],
    refusedPurposes: ['RESEARCH'],
    version: 1,
  });
});

test('the FHIR Patient is answered as FHIR, with its validators [PAT-7]', async () => {
  const answer = await read(patientId.toUpperCase(), '/clinical/fhir');
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get('content-type'), 'application/fhir+json; charset=utf-8');
  assert.equal(answer.headers.get('etag'), 'W/"1"');
  const { meta, ...resource } = answer.json;
  assert.equal(meta.versionId, '1');
  assert.equal(answer.headers.get('last-modified'), new Date(meta.lastUpdated).toUTCString());
  assert.deepEqual(resource, {
    resourceType: 'Patient',
    id: patientId,
    ...HELD,
    gender: 'female',
    birthDate: '1980-02-29',
  });
  const cached = await api.call(`/patients/base/${patientId}/clinical/fhir`, {
    token: account.token,
    headers: { 'if-none-match': 'W/"1"' },
  });
  assert.equal(cached.status, 304);
  const xml = await api.call(`/patients/base/${patientId}/clinical/fhir`, {
    token: account.token,
    headers: { accept: 'application/fhir+xml' },
  });
  assert.equal(xml.status, 406);
});

for (const form of FORMS)
  test(`GET /patients/base/<id>${form}: privacy, purpose and trace [LOG-2]`, async () => {
    const patient = await insertPatient(api.database.pool, tenant, { refusedPurposes: ['OPS', 'PAYMENT'] });
    assert.equal((await read(patient, form)).status, 403, 'OPS without a purpose');
    assert.equal((await read(patient, form, '?purposeOfUse=TREATMENT')).status, 200);
    assert.equal((await read(patient, form, '?purposeOfUse=NOTHING')).status, 400);
    const { rows } = await api.database.pool.query(
      `select action, resource_type, resource_id, purpose_of_use, outcome
       from access_log where patient_id = $1 order by occurred_at, sequence`,
      [patient],
    );
    const entry = { action: 'patient.read', resource_type: 'Patient', resource_id: patient };
    assert.deepEqual(rows, [
      { ...entry, purpose_of_use: 'OPS', outcome: 'refused' },
      { ...entry, purpose_of_use: 'TREATMENT', outcome: 'allowed' },
    ]);
  });

for (const form of FORMS)
  test(`GET /patients/base/<id>${form}: one 404 for what is not there, 401 and 403 before it [ACC-3, PAT-6]`, async () => {
    const facilityId = await api.createFacility(tenant.organisationId);
    const elsewhere = await api.createAccount({ ...tenant, facilityId });
    const stranger = await api.createAccount(await api.createTenant());
    const answers = [
      await read(randomUUID(), form),
      await read('smith', form),
      await read(patientId, form, '', elsewhere.token),
      await read(patientId, form, '', stranger.token),
    ];
    for (const answer of answers) {
      assert.equal(answer.status, 404);
      assert.deepEqual(answer.json, answers[0]?.json);
    }
    assert.equal((await api.call(`/patients/base/${patientId}${form}`)).status, 401);
    const lister = await api.createAccount(tenant, { permissions: ['patients.patients.list'] });
    assert.equal((await read(patientId, form, '', lister.token)).status, 403);
    const closed = await api.createFacility(tenant.organisationId, { modules: ['encounters'] });
    const there = await api.createAccount({ ...tenant, facilityId: closed });
    assert.equal((await read(patientId, form, '', there.token)).status, 403);
  });

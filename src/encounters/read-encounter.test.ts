import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { insertEncounter, insertPatient } from '../../test-support/records/clinical-records.ts';
import { useTestApi } from '../../test-support/service/use-api.ts';

const { api, tenant, account } = await useTestApi({ permissions: ['encounters.fhir.encounter.read'] });
const patientId = await insertPatient(api.database.pool, tenant);
const encounterId = await insertEncounter(api.database.pool, tenant, {
  patientId,
  start: '2024-01-31 10:00:00.123456+00',
  end: '2024-01-31 11:00:00+00',
});

const path = (id: string, query = 'purposeOfUse=TREATMENT') => `/encounters/fhir/Encounter/${id}?${query}`;
const entries = async (ofPatient: string) =>
  (
    await api.database.pool.query(
      `select action, resource_type, resource_id, purpose_of_use, outcome, account_id
       from access_log where patient_id = $1 order by occurred_at, sequence`,
      [ofPatient],
    )
  ).rows;

test('an encounter is answered as FHIR, with its validators [ENC-1, ENC-31]', async () => {
  const answer = await api.call(path(encounterId), { token: account.token });
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get('content-type'), 'application/fhir+json; charset=utf-8');
  assert.equal(answer.headers.get('etag'), 'W/"1"');
  assert.equal(answer.headers.get('cache-control'), 'no-store');
  const { meta, ...resource } = answer.json;
  assert.equal(answer.headers.get('last-modified'), new Date(meta?.lastUpdated ?? '').toUTCString());
  assert.deepEqual(resource, {
    resourceType: 'Encounter',
    id: encounterId,
    identifier: [{ system: `urn:uuid:${tenant.organisationId}`, value: encounterId }],
    status: 'finished',
    class: {
      system: 'http://terminology.hl7.org/CodeSystem/v3-ActCode',
      code: 'AMB',
      display: 'ambulatory',
    },
    subject: { reference: `Patient/${patientId}` },
    period: { start: '2024-01-31T10:00:00.123456Z', end: '2024-01-31T11:00:00Z' },
    serviceProvider: { reference: `Organization/${tenant.organisationId}` },
  });
});

test('the read is in the access log before it is answered, also when the answer is 304 [ENC-32, LOG-9]', async () => {
  const patient = await insertPatient(api.database.pool, tenant);
  const id = await insertEncounter(api.database.pool, tenant, { patientId: patient });
  await api.call(path(id.toUpperCase()), { token: account.token });
  const cached = await api.call(path(id, 'purposeOfUse=PAYMENT'), {
    token: account.token,
    headers: { 'if-none-match': '"0", W/"1"' },
  });
  assert.equal(cached.status, 304);
  assert.equal(cached.text, '');
  assert.equal(cached.headers.get('etag'), 'W/"1"');
  const expected = {
    action: 'encounter.read',
    resource_type: 'Encounter',
    resource_id: id,
    outcome: 'allowed',
    account_id: account.userId,
  };
  assert.deepEqual(await entries(patient), [
    { ...expected, purpose_of_use: 'TREATMENT' },
    { ...expected, purpose_of_use: 'PAYMENT' },
  ]);
});

test('another version is answered in full [ENC-32]', async () => {
  const answer = await api.call(path(encounterId), {
    token: account.token,
    headers: { 'if-none-match': 'W/"2"' },
  });
  assert.equal(answer.status, 200);
});

test('purposeOfUse missing, unknown or given twice is 400 [ENC-12, LOG-1]', async () => {
  for (const query of ['', 'purposeOfUse=CURIOSITY', 'purposeOfUse=', 'purposeOfUse=OPS&purposeOfUse=OPS']) {
    const answer = await api.call(path(encounterId, query), { token: account.token });
    assert.equal(answer.status, 400, query);
    assert.equal(answer.json.error, 'Bad Request');
    assert.match(answer.json.message ?? '', /purposeOfUse/);
  }
});

test('without a token 401, without the permission or the module 403 [ENC-30]', async () => {
  assert.equal((await api.call(path(encounterId))).status, 401);
  const other = await api.createAccount(tenant, { permissions: ['encounters.fhir.encounter.search'] });
  assert.equal((await api.call(path(encounterId), { token: other.token })).status, 403);
  const wide = await api.createAccount(tenant, { permissions: ['encounters.access'] });
  assert.equal((await api.call(path(encounterId), { token: wide.token })).status, 200);
  const closed = await api.createFacility(tenant.organisationId, { modules: ['patients'] });
  const there = await api.createAccount({ ...tenant, facilityId: closed });
  assert.equal((await api.call(path(encounterId), { token: there.token })).status, 403);
});

test('unknown, malformed, of another facility and of another tenant are one 404 [ACC-3]', async () => {
  const facilityId = await api.createFacility(tenant.organisationId);
  const elsewhere = await api.createAccount({ ...tenant, facilityId });
  const stranger = await api.createAccount(await api.createTenant());
  const answers = [
    await api.call(path(randomUUID()), { token: account.token }),
    await api.call(path('not-an-id'), { token: account.token }),
    await api.call(path(encounterId), { token: elsewhere.token }),
    await api.call(path(encounterId), { token: stranger.token }),
  ];
  for (const answer of answers) {
    assert.equal(answer.status, 404);
    assert.deepEqual(answer.json, answers[0]?.json);
  }
});

test('a refused purpose is 403 and logged as refused; another purpose is answered [LOG-5]', async () => {
  const patient = await insertPatient(api.database.pool, tenant, { refusedPurposes: ['RESEARCH'] });
  const id = await insertEncounter(api.database.pool, tenant, { patientId: patient });
  const refused = await api.call(path(id, 'purposeOfUse=RESEARCH'), {
    token: account.token,
    headers: { 'if-none-match': '*' },
  });
  assert.equal(refused.status, 403);
  assert.equal((await api.call(path(id), { token: account.token })).status, 200);
  assert.deepEqual(
    (await entries(patient)).map((entry) => [entry.purpose_of_use, entry.outcome]),
    [
      ['RESEARCH', 'refused'],
      ['TREATMENT', 'allowed'],
    ],
  );
});

test('other media types are 406, before anything is read [ENC-35]', async () => {
  const patient = await insertPatient(api.database.pool, tenant);
  const id = await insertEncounter(api.database.pool, tenant, { patientId: patient });
  const answer = await api.call(path(id), {
    token: account.token,
    headers: { accept: 'application/fhir+xml' },
  });
  assert.equal(answer.status, 406);
  assert.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8');
  assert.deepEqual(await entries(patient), []);
  const format = await api.call(path(id, 'purposeOfUse=OPS&_format=json'), {
    token: account.token,
    headers: { accept: 'text/html' },
  });
  assert.equal(format.status, 200);
});

test('reads that arrive together get their own answers', async () => {
  const ids = await Promise.all(
    Array.from({ length: 30 }, () => insertEncounter(api.database.pool, tenant, { patientId })),
  );
  const missing = randomUUID();
  const answers = await Promise.all(
    [...ids, missing, ...ids].map((id) => api.call(path(id), { token: account.token })),
  );
  assert.deepEqual(
    answers.map((answer) => answer.json.id),
    [...ids, undefined, ...ids],
  );
  assert.equal(answers[30]?.status, 404);
});

test('reads of several tenants that arrive together stay apart', async () => {
  const other = await api.createTenant();
  const stranger = await api.createAccount(other);
  // The same id in both: an id is unique within its facility only.
  const patient = await insertPatient(api.database.pool, other);
  await insertEncounter(api.database.pool, other, { id: encounterId, patientId: patient, status: 'planned' });
  const tokens = Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? account : stranger).token);
  const answers = await Promise.all(tokens.map((token) => api.call(path(encounterId), { token })));
  assert.deepEqual(
    answers.map((answer) => [answer.json.status, answer.json.subject.reference]),
    tokens.map((token) =>
      token === account.token ? ['finished', `Patient/${patientId}`] : ['planned', `Patient/${patient}`],
    ),
  );
});

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { insertEncounter } from '../../test-support/records/clinical-records.ts';
import { useEmptyApi } from '../../test-support/service/api.ts';
import { PURPOSES_OF_USE } from '../fhir/purpose-of-use.ts';
import { transaction } from '../platform/db/database.ts';

const patientId: string = randomUUID();

const api = await useEmptyApi();
const other = await api.addNode();
const account = await api.createAccount(await api.createTenant());
const run = (text: string, values: unknown[]) => api.database.pool.query({ text, values });
await run(`insert into patient (organisation_id, id, content_digest) values ($1, $2, '')`, [
  account.organisationId,
  patientId,
]);
await run('insert into patient_registration (organisation_id, facility_id, patient_id) values ($1, $2, $3)', [
  account.organisationId,
  account.facilityId,
  patientId,
]);

const path = (id = patientId) => `/patients/base/${id}/privacy`;
const put = (body: unknown, { token = account.token, id = patientId } = {}) =>
  api.call(path(id), { method: 'PUT', token, body });

test('a refused purpose is 403 and the others are 200, at once on another node [LOG-3]', async () => {
  for (const refused of PURPOSES_OF_USE) {
    const answer = await put({ refusedPurposes: [refused] });
    assert.equal(answer.status, 200);
    assert.deepEqual(answer.json, { refusedPurposes: [refused] });
    for (const purpose of PURPOSES_OF_USE) {
      const read = await other.call(`/patients/base/${patientId}?purposeOfUse=${purpose}`, {
        token: account.token,
      });
      assert.equal(read.status, purpose === refused ? 403 : 200);
    }
  }
});

test('an empty list refuses none [LOG-3]', async () => {
  await put({ refusedPurposes: [...PURPOSES_OF_USE] });
  assert.equal((await put({ refusedPurposes: [] })).status, 200);
  assert.equal((await api.call(`/patients/base/${patientId}`, { token: account.token })).status, 200);
});

test('a purpose is refused while an import writes records about the patient [LOG-3]', async () => {
  await transaction(api.database.pool, async (client) => {
    await insertEncounter(client, account, { patientId });
    assert.equal((await put({ refusedPurposes: ['RESEARCH'] })).status, 200);
  });
});

test("the change stands in the patient's access log [LOG-6]", async () => {
  await put({ refusedPurposes: [] });
  const log = await api.call(`/patients/base/${patientId}/access-log?action=patient.privacy-change`, {
    token: account.token,
  });
  assert.equal(log.json.items?.[0]?.accountId, account.userId);
  assert.equal(log.json.items?.[0]?.outcome, 'allowed');
});

test('what is refused: unknown purposes, other shapes, no permission, other places [LOG-6]', async () => {
  for (const body of [
    { refusedPurposes: ['FUN'] },
    { refusedPurposes: 'RESEARCH' },
    {},
    { refusedPurposes: [], x: 1 },
  ])
    assert.equal((await put(body)).status, 400);
  const reader = await api.createAccount(account, { permissions: ['patients.patients.get'] });
  assert.equal((await put({ refusedPurposes: [] }, { token: reader.token })).status, 403);
  assert.equal((await put({ refusedPurposes: [] }, { id: randomUUID() })).status, 404);
  assert.equal((await put({ refusedPurposes: [] }, { id: 'nobody' })).status, 404);
  const elsewhere = { ...account, facilityId: await api.createFacility(account.organisationId) };
  const neighbour = await api.createAccount(elsewhere);
  assert.equal((await put({ refusedPurposes: [] }, { token: neighbour.token })).status, 404);
  const stranger = await api.createAccount(await api.createTenant());
  assert.equal((await put({ refusedPurposes: [] }, { token: stranger.token })).status, 404);
  assert.equal((await api.call(path(), { method: 'PUT', body: { refusedPurposes: [] } })).status, 401);
});

test('the setting is read by who may change it or read the patient, and the reading is logged [ADM-40]', async () => {
  await put({ refusedPurposes: [...PURPOSES_OF_USE] });
  for (const permission of ['patients.privacy.manage', 'patients.patients.get']) {
    const reader = await api.createAccount(account, { permissions: [permission] });
    const answer = await api.call(path(), { token: reader.token });
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual(answer.json, { refusedPurposes: [...PURPOSES_OF_USE] });
    await put({ refusedPurposes: [] });
    const log = await api.call(`/patients/base/${patientId}/access-log?action=patient.privacy-read`, {
      token: account.token,
    });
    assert.equal(log.json.items?.[0]?.accountId, reader.userId);
    await put({ refusedPurposes: [...PURPOSES_OF_USE] });
  }
  const lister = await api.createAccount(account, { permissions: ['patients.patients.list'] });
  const elsewhere = { ...account, facilityId: await api.createFacility(account.organisationId) };
  const neighbour = await api.createAccount(elsewhere);
  const stranger = await api.createAccount(await api.createTenant());
  const status = async (token?: string, id = patientId) =>
    (await api.call(path(id), token === undefined ? {} : { token })).status;
  assert.equal(await status(), 401);
  assert.equal(await status(lister.token), 403);
  assert.equal(await status(neighbour.token), 404);
  assert.equal(await status(stranger.token), 404);
  assert.equal(await status(account.token, 'nobody'), 404);
});

/** A record that is given to another patient while a fetch of it is under way. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callDuring } from '../../../test-support/call-during.ts';
import { importJson } from '../../../test-support/records/import-files.ts';
import { type Tenant, type TestAccount, useEmptyApi } from '../../../test-support/service/api.ts';

const ORDER = '7d000000-0000-4000-8000-000000000010';
const [FIRST, SECOND] = ['7d000000-0000-4000-8000-000000000001', '7d000000-0000-4000-8000-000000000002'];
const PATH = `/investigations/lab/orders/${ORDER}/clinical/fhir?purposeOfUse=RESEARCH`;
let tenant: Tenant;
let account: TestAccount;

const api = await useEmptyApi();

const send = (...resources: object[]) =>
  importJson(api.database.pool, tenant, ...resources.map((resource) => JSON.stringify(resource)));

const orderOf = (patientId: string) => ({
  resourceType: 'ServiceRequest',
  id: ORDER,
  status: 'active',
  intent: 'order',
  category: [{ coding: [{ system: 'http://snomed.info/sct', code: '108252007' }] }],
  code: { coding: [{ system: 'urn:lab', code: 'HB' }] },
  subject: { reference: `Patient/${patientId}` },
});

/** Fetches an order that has no text. Between the look for one and the look at its parts it becomes the second patient's. */
async function fetchMeanwhile(refused: string[]) {
  tenant = await api.createTenant();
  account = await api.createAccount(tenant);
  await send(...[FIRST, SECOND].map((id) => ({ resourceType: 'Patient', id })), orderOf(FIRST));
  await api.database.pool.query({
    text: 'update patient set refused_purposes = $3 where organisation_id = $1 and id = $2',
    values: [tenant.organisationId, SECOND, refused],
  });
  return callDuring(api.database.pool, {
    change: (client) => client.query('lock table investigation_document in access exclusive mode'),
    call: () => api.call(PATH, { token: account.token }),
    meanwhile: async () => assert.deepEqual((await send(orderOf(SECOND))).rejected, []),
  });
}

async function entriesOf(patientId: string) {
  const { rows } = await api.database.pool.query<{ outcome: string }>({
    text: `select outcome from access_log
      where organisation_id = $1 and patient_id = $2 and action = 'lab-order.read'`,
    values: [tenant.organisationId, patientId],
  });
  return rows.map(({ outcome }) => outcome);
}

test('a record that becomes another patient’s meanwhile is in the access log of that one [LOG-7]', async () => {
  const { status, json } = await fetchMeanwhile([]);
  assert.equal(status, 200);
  assert.equal(json.orders[0]?.resource?.subject?.reference, `Patient/${SECOND}`);
  assert.deepEqual(await entriesOf(SECOND), ['allowed']);
});

test('a record that becomes another patient’s meanwhile is withheld where that one refuses the purpose [LOG-4, LOG-5]', async () => {
  const { status } = await fetchMeanwhile(['RESEARCH']);
  assert.equal(status, 403);
  assert.deepEqual(await entriesOf(SECOND), ['refused']);
});

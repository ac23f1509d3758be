import assert from 'node:assert/strict';
import { test } from 'node:test';
import { importClinical, importJson } from '../../test-support/records/import-files.ts';
import { type Json, useEmptyApi } from '../../test-support/service/api.ts';

const PATIENT = '7b000000-0000-4000-8000-000000000001';
const ORDER = '7b000000-0000-4000-8000-000000000010';

const api = await useEmptyApi();
const account = await api.createAccount(await api.createTenant());
await importClinical(api.database.pool, account, 'laboratory.json', 'imaging.json');

const get = (path: string) => api.call(path, { token: account.token });
/** A JSON list as a list. */
const list = (json: Json | undefined): Json[] => json ?? [];

test('the list is newest first, pages, and names the order that each fetch takes [FETCH-20, FETCH-21]', async () => {
  const all = await get(`/investigations/lab/orders?patient=Patient/${PATIENT}`);
  assert.equal(all.status, 200);
  assert.deepEqual(all.json.items[0], {
    orderId: ORDER,
    patientId: PATIENT,
    encounterId: '7b000000-0000-4000-8000-000000000003',
    status: 'completed',
    code: 'SEPSIS',
    codeSystem: 'https://hospital.example/tests',
    orderedAt: '2024-03-05T07:41:07Z',
  });
  assert.equal(all.json.items.length, 2);
  assert.equal(all.json.nextCursor, null);
  const first = await get(`/investigations/lab/orders?patient=${PATIENT}&limit=1`);
  const second = await get(
    `/investigations/lab/orders?patient=${PATIENT}&limit=1&cursor=${first.json.nextCursor}`,
  );
  assert.deepEqual([...list(first.json.items), ...list(second.json.items)], list(all.json.items));
  assert.equal(second.json.nextCursor, null);
});

test('an order of which only the end of its occurrence is known is listed by that, not by its parts [FETCH-20]', async () => {
  const id = '7b300000-0000-4000-8000-000000000001';
  const subject = { reference: `Patient/${id}` };
  const order = (end: string, occurrence: object) => ({
    resourceType: 'ServiceRequest',
    id: `7b300000-0000-4000-8000-0000000000${end}`,
    status: 'completed',
    intent: 'order',
    category: [{ coding: [{ system: 'http://snomed.info/sct', code: '108252007' }] }],
    subject,
    ...occurrence,
  });
  const orders = [
    order('11', { occurrencePeriod: { end: '2024-03-05T12:00:00Z' } }),
    order('12', { occurrencePeriod: { end: '2024-02' } }),
    order('13', { occurrenceDateTime: '2024-03-04T12:00:00Z' }),
  ];
  const results = orders.map((order) => ({
    resourceType: 'Observation',
    id: order.id,
    status: 'final',
    code: { text: 'Potassium' },
    subject,
    basedOn: [{ reference: `ServiceRequest/${order.id}` }],
    effectiveDateTime: '2024-01-01T12:00:00Z',
    valueString: 'normal',
  }));
  const entry = [{ resourceType: 'Patient', id }, ...orders, ...results].map((resource) => ({ resource }));
  const records = { resourceType: 'Bundle', type: 'collection', entry };
  const { rejected } = await importJson(api.database.pool, account, JSON.stringify(records));
  assert.deepEqual(rejected, []);
  const { json } = await get(`/investigations/lab/orders?patient=${id}`);
  assert.deepEqual(
    list(json.items).map(({ orderId, orderedAt, orderedOn }) => [orderId.slice(-2), orderedAt, orderedOn]),
    [
      ['11', '2024-03-05T12:00:00Z', undefined],
      ['13', '2024-03-04T12:00:00Z', undefined],
      ['12', null, '2024-02'],
    ],
  );
});

test('a list has 20 items where the caller asks for no number [FETCH-21]', async () => {
  const id = '7b200000-0000-4000-8000-000000000001';
  const subject = { reference: `Patient/${id}` };
  const category = [{ coding: [{ system: 'http://snomed.info/sct', code: '108252007' }] }];
  const orders = Array.from({ length: 21 }, (_, index) => ({
    resourceType: 'ServiceRequest',
    id: `7b200000-0000-4000-8000-0000000001${String(index).padStart(2, '0')}`,
    status: 'completed',
    intent: 'order',
    category,
    subject,
    authoredOn: '2024-03-05T08:41:07+01:00',
  }));
  const entry = [{ resourceType: 'Patient', id, name: [{ family: 'Many' }] }, ...orders].map((resource) => ({
    resource,
  }));
  const records = { resourceType: 'Bundle', type: 'collection', entry };
  const { rejected } = await importJson(api.database.pool, account, JSON.stringify(records));
  assert.deepEqual(rejected, []);
  const { json } = await get(`/investigations/lab/orders?patient=${id}`);
  assert.equal(json.items.length, 20);
  assert.notEqual(json.nextCursor, null);
});

test('a cursor of one patient does not work for another [FETCH-21]', async () => {
  const { json } = await get(`/investigations/lab/orders?patient=${PATIENT}&limit=1`);
  const other = '7c000000-0000-4000-8000-000000000001';
  const answer = await get(`/investigations/lab/orders?patient=${other}&cursor=${json.nextCursor}`);
  assert.equal(answer.status, 400);
});

test('a cursor of one list works for no other list, and at no other facility [FETCH-21]', async () => {
  const { json } = await get(`/investigations/lab/orders?patient=${PATIENT}&limit=1`);
  const cursor = json.nextCursor;
  assert.equal(typeof cursor, 'string');
  for (const path of ['/investigations/imaging/orders', '/encounters/vitals']) {
    const answer = await get(`${path}?patient=${PATIENT}&cursor=${cursor}`);
    assert.equal(answer.status, 400, path);
  }
  const facilityId = await api.createFacility(account.organisationId);
  const elsewhere = await api.createAccount({ ...account, facilityId });
  const own = `/investigations/lab/orders?patient=${PATIENT}&cursor=${cursor}`;
  assert.equal((await api.call(own, { token: elsewhere.token })).status, 400);
  assert.equal((await get(own)).status, 200);
});

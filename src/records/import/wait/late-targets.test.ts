/** What one import misses is joined by a later one, whatever lies between (docs/adr/0110). */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { bundle, type Resource } from '../../../../test-support/records/clinic.ts';
import { lines, sourceOf } from '../../../../test-support/records/import.ts';
import { importJson } from '../../../../test-support/records/import-files.ts';
import { useTestApi } from '../../../../test-support/service/use-api.ts';
import { importRecords } from '../import-records.ts';

const LAB = '/investigations/lab/orders';
const PATIENT = '7e000000-0000-4000-8000-000000000001';
const OTHER = '7e000000-0000-4000-8000-000000000002';
const ORDER = '7e000000-0000-4000-8000-000000000010';
const RESULT = '7e000000-0000-4000-8000-000000000020';
const subject = { reference: `Patient/${PATIENT}` };
const person = (id: string): Resource => ({ resourceType: 'Patient', id });
const order: Resource = {
  resourceType: 'ServiceRequest',
  id: ORDER,
  status: 'active',
  intent: 'order',
  code: { text: 'Blood count' },
  subject,
};
const result: Resource = {
  resourceType: 'Observation',
  id: RESULT,
  status: 'final',
  category: [
    {
      coding: [{ system: 'http://terminology.hl7.org/CodeSystem/observation-category', code: 'laboratory' }],
    },
  ],
  code: { text: 'Haemoglobin' },
  subject,
  basedOn: [{ reference: `ServiceRequest/${ORDER}` }],
  valueQuantity: { value: 13.0, unit: 'g/dL' },
};

const { api, tenant, account } = await useTestApi();
const get = (path: string) => api.call(path, { token: account.token });
const load = async (...records: Resource[]) => {
  const { rejected } = await importJson(api.database.pool, tenant, lines(records));
  assert.deepEqual(rejected, []);
};
const list = async () => (await get(`${LAB}?patient=${PATIENT}`)).json.items;
const count = async (table: string) =>
  (await api.database.pool.query<{ count: number }>({ text: `select count(*) from ${table}` })).rows[0]
    ?.count;
await load(person(PATIENT), person(OTHER), result);
const madeUp: string = (await list())[0].orderId;
assert.notEqual(madeUp, ORDER);
await load({ ...order, id: crypto.randomUUID(), code: { text: 'Something else' } });
await load(order);

describe('a result that comes before its order', () => {
  test('comes under the order, and the made-up one is gone [IN-17, IN-37]', async () => {
    const { json } = await get(`${LAB}/${ORDER}/clinical/fhir`);
    assert.deepEqual(
      json.observations.map(({ localId }: { localId: string }) => localId),
      [RESULT],
    );
    assert.deepEqual(json.observations[0].resource.basedOn, [{ reference: `ServiceRequest/${ORDER}` }]);
    assert.match((await get(`${LAB}/${ORDER}/clinical/fhir`)).text, /"value":13,|"value":13\.0/);
    assert.equal(
      (await list()).some(({ orderId }: { orderId: string }) => orderId === madeUp),
      false,
    );
  });

  test('nothing waits any more', async () => {
    assert.deepEqual([await count('waiting_record'), await count('waiting_link')], [0, 0]);
  });

  test('the id of the made-up order leads to the real one: fetched, as a FHIR resource, in the history [IN-38]', async () => {
    const real = await get(`${LAB}/${ORDER}/clinical/fhir`);
    const replaced = await get(`${LAB}/${madeUp}/clinical/fhir`);
    assert.deepEqual([replaced.status, replaced.text], [200, real.text]);
    const resource = await get(`/fhir/ServiceRequest/${madeUp}`);
    assert.deepEqual([resource.status, resource.json.id], [200, ORDER]);
    const history = await get(`${LAB}/${madeUp}/clinical/publish-fhir`);
    assert.equal(history.status, 200, history.text);
    // The order is found, and no target is configured.
    const publish = { method: 'POST', token: account.token };
    const published = await api.call(`${LAB}/${madeUp}/clinical/publish-fhir`, publish);
    assert.equal(published.status, 503, published.text);
  });

  test('the same again changes nothing', async () => {
    const version = async () =>
      (
        await api.database.pool.query({
          text: 'select version from observation where id = $1',
          values: [RESULT],
        })
      ).rows;
    const before = await version();
    await load(result, order);
    assert.deepEqual(await version(), before);
  });

  test('a late target of another patient is never joined, and is not asked for again [IN-20, IN-37]', async () => {
    const lateOrder = '7e000000-0000-4000-8000-000000000011';
    const lateResult = '7e000000-0000-4000-8000-000000000021';
    await load({
      ...result,
      id: lateResult,
      basedOn: [{ reference: `ServiceRequest/${lateOrder}`, display: 'Their order' }],
    });
    assert.equal(await count('waiting_record'), 1);
    await load({ ...order, id: lateOrder, subject: { reference: `Patient/${OTHER}` } });
    const rows = await api.database.pool.query({
      text: 'select based_on_id, based_on, order_id from observation where id = $1',
      values: [lateResult],
    });
    assert.equal(rows.rows[0]?.based_on_id, null);
    assert.notEqual(rows.rows[0]?.order_id, lateOrder);
    assert.equal(await count('waiting_record'), 0);
  });

  test('what a Bundle had under its own addresses is kept until the rest comes', async () => {
    const someone = '7e000000-0000-4000-8000-000000000003';
    const missing = '7e000000-0000-4000-8000-000000000012';
    const member = '7e000000-0000-4000-8000-000000000022';
    const panel = '7e000000-0000-4000-8000-000000000023';
    const own = { ...result, subject: { reference: 'urn:oid:1.2.3' }, basedOn: undefined };
    const whole = bundle([
      { fullUrl: 'urn:oid:1.2.3', resource: person(someone) },
      { fullUrl: 'urn:oid:1.2.4', resource: { ...own, id: member } },
      {
        fullUrl: 'urn:oid:1.2.5',
        resource: {
          ...own,
          id: panel,
          valueQuantity: undefined,
          hasMember: [{ reference: 'urn:oid:1.2.4' }],
          basedOn: [{ reference: `ServiceRequest/${missing}` }],
        },
      },
    ]);
    await importJson(api.database.pool, tenant, JSON.stringify(whole));
    await load({ ...order, id: missing, subject: { reference: `Patient/${someone}` } });
    const { json } = await get(`${LAB}/${missing}/clinical/fhir`);
    const ids = json.observations.map(({ localId }: { localId: string }) => localId);
    assert.deepEqual(ids.toSorted(), [member, panel]);
  });

  test('a newer content that misses nothing is not replaced by what waited', async () => {
    const missing = '7e000000-0000-4000-8000-000000000013';
    const waiting = '7e000000-0000-4000-8000-000000000024';
    await load({ ...result, id: waiting, basedOn: [{ reference: `ServiceRequest/${missing}` }] });
    await load({ ...result, id: waiting, basedOn: undefined, valueQuantity: { value: 14, unit: 'g/dL' } });
    await load({ ...order, id: missing });
    const { rows } = await api.database.pool.query({
      text: 'select value_number, based_on_id from observation where id = $1',
      values: [waiting],
    });
    assert.deepEqual(rows, [{ value_number: '14', based_on_id: null }]);
  });

  for (const [what, misses] of [
    ['misses nothing', false],
    ['misses the same', true],
  ] as const)
    test(`the second try of an import leaves what another one wrote meanwhile, that ${what} [IN-34]`, async () => {
      const id = crypto.randomUUID();
      const missing = crypto.randomUUID();
      const basedOn = [{ reference: `ServiceRequest/${missing}` }];
      const source = (record: Resource, before?: () => Promise<void>) =>
        sourceOf(String(record.id), record, before);
      const meanwhile = () =>
        load({
          ...result,
          id,
          basedOn: misses ? basedOn : undefined,
          valueQuantity: { value: 14, unit: 'g/dL' },
        });
      const sources = [source({ ...result, id, basedOn }), source({ ...order, id: missing }, meanwhile)];
      const scope = { timeZone: 'UTC', ...tenant };
      await importRecords({ db: api.database.pool }, { scope, sources });
      const { rows } = await api.database.pool.query({
        text: 'select value_number, based_on_id is not null as joined from observation where id = $1',
        values: [id],
      });
      assert.deepEqual(rows, [{ value_number: '14', joined: misses }]);
    });
});

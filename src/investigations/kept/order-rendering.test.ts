/** Orders that are rendered by the worker, and by a check (docs/adr/0153). */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { ALL_RIGHT, useKeptTexts } from '../../../test-support/records/kept-texts.ts';
import { checkTexts } from '../../clinical/kept/check-texts.ts';
import { keepTexts } from '../../clinical/kept/kept-texts.store.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { createWorkWatch } from '../../tenancy/organisations/organisation-work.ts';
import { ORDER_TEXTS } from './order-rendering.store.ts';
import { renderOrders } from './render-orders.ts';

const t = useKeptTexts('investigation_order');
const { send, kept, change } = t;

const check = () => checkTexts(t.pool, ORDER_TEXTS, t.scope.organisationId);
const work = () => createWorkWatch().of('test');
const renderAll = () => renderOrders({ db: t.pool, work: work() });

/** Orders without parts. */
async function orders(count: number, more: object = {}): Promise<string[]> {
  const patient = randomUUID();
  const ids = Array.from({ length: count }, () => randomUUID());
  await send(
    { resourceType: 'Patient', id: patient },
    ...ids.map((id) => ({
      resourceType: 'ServiceRequest',
      id,
      status: 'active',
      intent: 'order',
      category: [{ coding: [{ system: 'http://snomed.info/sct', code: '108252007' }] }],
      code: { text: 'Sodium' },
      subject: { reference: `Patient/${patient}` },
      ...more,
    })),
  );
  return ids;
}

test('an order that fails leaves those before it with their texts', async () => {
  const ids = await orders(3);
  let loads = 0;
  const failing: Queryable = {
    query(statement) {
      if (statement.name === 'investigation-load') loads += 1;
      const fails = statement.name === 'investigation-load' && loads === 3;
      return fails ? Promise.reject(new Error('the third')) : t.pool.query(statement);
    },
  };
  await renderOrders({ db: failing, work: work() });
  const texts = await Promise.all(ids.map(async (id) => (await kept(id)).rendered));
  assert.equal(texts.filter((text) => text === null).length, 1);
});

test('a call of the background ends after a time, and the next one goes on', async () => {
  const ids = await orders(45);
  await renderOrders({ db: t.pool, work: work() }, { longestMs: 0 });
  assert.deepEqual(await check(), { records: 45, missing: 45, different: [] });
  await renderAll();
  assert.deepEqual(await check(), { records: ids.length, ...ALL_RIGHT });
});

test('an order of another discipline is never fetched, so it has no text', async () => {
  const [id = ''] = await orders(1, { category: [{ text: 'dietician' }] });
  await renderAll();
  assert.equal((await kept(id)).rendered, null);
  assert.deepEqual(await check(), { records: 0, ...ALL_RIGHT });
});

test('an order that changes while it is checked is left to the next check', async () => {
  const [id = ''] = await orders(1);
  await renderAll();
  const changing: Queryable = {
    async query(statement) {
      if (statement.name === 'investigation-load')
        await change(id, "discipline = 'imaging', version = version + 1");
      return t.pool.query(statement);
    },
  };
  assert.deepEqual(await checkTexts(changing, ORDER_TEXTS, t.scope.organisationId), {
    records: 1,
    ...ALL_RIGHT,
  });
});

test('many texts are kept some at a time: what a statement costs grows faster than their number', async () => {
  const counts: number[] = [];
  const counting: Queryable = {
    query(statement) {
      const [, , ids] = statement.values as [string, unknown, string[]];
      counts.push(ids.length);
      return t.pool.query(statement);
    },
  };
  const { facilityId, organisationId } = t.scope;
  const texts = Array.from({ length: 450 }, () => ({ facilityId, id: randomUUID(), version: 1, text: '' }));
  await keepTexts(counting, ORDER_TEXTS, organisationId, texts);
  assert.deepEqual(counts, [200, 200, 50]);
});

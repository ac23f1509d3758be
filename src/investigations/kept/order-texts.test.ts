/** The text that is kept of an order with all that belongs to it: when it counts, and when it is written (docs/adr/0153). */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { ALL_RIGHT, useKeptTexts } from '../../../test-support/records/kept-texts.ts';
import { checkTexts } from '../../clinical/kept/check-texts.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { createWorkWatch } from '../../tenancy/organisations/organisation-work.ts';
import { ORDER_MAPPING } from './order-text.fhir.ts';
import { createOrderTextLoader, ORDER_TEXTS } from './order-texts.store.ts';
import { renderOrders } from './render-orders.ts';

const t = useKeptTexts('investigation_order');
const { send, kept, change } = t;

const check = (options = {}) => checkTexts(t.pool, ORDER_TEXTS, t.scope.organisationId, options);
const renderAll = () => renderOrders({ db: t.pool, work: createWorkWatch().of('test') });

/** Runs statements and notes their names; the one that keeps texts has none. */
function listening(): { db: Queryable; names: (string | undefined)[] } {
  const names: (string | undefined)[] = [];
  const db: Queryable = {
    query: (statement) => {
      names.push(statement.name);
      return t.pool.query(statement);
    },
  };
  return { db, names };
}

async function read(id: string, db: Queryable = t.pool): Promise<string> {
  const loaded = await createOrderTextLoader(db)({ scope: t.scope, id, discipline: 'laboratory' });
  assert.ok(loaded);
  return loaded.record;
}

const READ = ['order-texts'];
const RENDERED = ['order-texts', 'investigation-load', undefined];

const CATEGORY = [{ coding: [{ system: 'http://snomed.info/sct', code: '108252007' }] }];
const code = { text: 'Sodium' };

/** An order with a result and a report, which says `conclusion`. */
async function imported(conclusion = 'Nothing to say.') {
  const [patient, order, result, report] = Array.from({ length: 4 }, () => randomUUID());
  const subject = { reference: `Patient/${patient}` };
  const basedOn = [{ reference: `ServiceRequest/${order}` }];
  const resultSaying = (valueString: string) => ({
    resourceType: 'Observation',
    id: result,
    status: 'final',
    code,
    subject,
    basedOn,
    valueString,
  });
  await send(
    { resourceType: 'Patient', id: patient },
    {
      resourceType: 'ServiceRequest',
      id: order,
      status: 'active',
      intent: 'order',
      category: CATEGORY,
      code,
      subject,
    },
    resultSaying('negative'),
    {
      resourceType: 'DiagnosticReport',
      id: report,
      status: 'final',
      code,
      subject,
      basedOn,
      result: [{ reference: `Observation/${result}` }],
      conclusion,
    },
  );
  return { id: order ?? '', resultSaying };
}

test('the background renders an order that an import wrote, and its first fetch is one statement', async () => {
  const { id } = await imported();
  assert.deepEqual((await check()).missing, 1);
  await renderAll();
  const { rendered, version, ...counts } = await kept(id);
  assert.deepEqual(counts, { rendered_version: version, rendered_mapping: ORDER_MAPPING });
  assert.deepEqual(await check(), { records: 1, ...ALL_RIGHT });
  const { db, names } = listening();
  assert.equal(await read(id, db), rendered);
  assert.deepEqual(names, READ);
});

test('an order that was not rendered yet is read with its parts, and its text is kept', async () => {
  const { id } = await imported();
  const { db, names } = listening();
  const text = await read(id, db);
  assert.deepEqual(names.splice(0), RENDERED);
  assert.equal(await read(id, db), text);
  assert.deepEqual(names, READ);
});

test('a result that changes makes the text of before count no more, and the background renders the order anew', async () => {
  const { id, resultSaying } = await imported();
  await renderAll();
  await send(resultSaying('positive'));
  assert.match(await read(id), /"valueString":"positive"/);
  await send(resultSaying('doubtful'));
  await renderAll();
  const { db, names } = listening();
  assert.match(await read(id, db), /"valueString":"doubtful"/);
  assert.deepEqual(names, READ);
});

test('a process that ends while it renders leaves the order to its next read', async () => {
  const { id } = await imported();
  const ended: Queryable = {
    query: (statement) =>
      statement.name === 'investigation-load' ? Promise.reject(new Error('ended')) : t.pool.query(statement),
  };
  await renderOrders({ db: ended, work: createWorkWatch().of('test') });
  assert.equal((await kept(id)).rendered, null);
  assert.match(await read(id), /"valueString":"negative"/);
  assert.deepEqual(await check(), { records: 1, ...ALL_RIGHT });
});

test('an order with a large document is answered, and not kept; the background looks at it once', async () => {
  const { id } = await imported('long '.repeat(60_000));
  await renderAll();
  const { rendered, rendered_version: lookedAt, version } = await kept(id);
  assert.deepEqual([rendered, lookedAt], [null, version]);
  assert.match(await read(id), /long long/);
  assert.equal((await kept(id)).rendered, null);
  assert.deepEqual(await check(), { records: 1, ...ALL_RIGHT });
});

test('a wrong text of an order is found and written anew; the version stays [CMD-22]', async () => {
  const { id } = await imported();
  await renderAll();
  const right = await kept(id);
  await change(id, "rendered = replace(rendered, 'negative', 'positive')");
  assert.deepEqual(await check(), { records: 1, missing: 0, different: [id] });
  assert.deepEqual((await check({ renew: true })).different, [id]);
  assert.deepEqual(await check(), { records: 1, ...ALL_RIGHT });
  assert.deepEqual(await kept(id), right);
});

test('a text of an older mapping is rendered at the first read; one of a newer mapping is left as it is', async () => {
  const { id } = await imported();
  await renderAll();
  const right = await kept(id);
  await change(id, `rendered = 'older', rendered_mapping = ${ORDER_MAPPING - 1}`);
  assert.equal(await read(id), right.rendered);
  assert.deepEqual(await kept(id), right);
  await change(id, `rendered = 'newer', rendered_mapping = ${ORDER_MAPPING + 1}`);
  assert.equal(await read(id), right.rendered);
  assert.equal((await kept(id)).rendered, 'newer');
});

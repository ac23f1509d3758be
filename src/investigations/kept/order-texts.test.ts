/** The text that is kept of an order with all that belongs to it: when it counts, and when it is written (docs/adr/0153). */
import assert from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { withEveryElement } from '../../../test-support/records/every-element.ts';
import { ALL_RIGHT, useKeptTexts } from '../../../test-support/records/kept-texts.ts';
import { checkTexts } from '../../clinical/kept/check-texts.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { createWorkWatch } from '../../tenancy/organisations/organisation-work.ts';
import { createTranslator } from '../../terminology/lookup/translate.ts';
import { createOrderEmitter } from '../emit-investigation.ts';
import { ORDER_TEXTS } from './order-rendering.store.ts';
import { ORDER_MAPPING } from './order-text.fhir.ts';
import { createOrderTextLoader } from './order-texts.store.ts';
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

const refer = (type: string, id?: string) => ({ reference: `${type}/${id}` });

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

test('a publish reads the same text, in one statement', async () => {
  const { id } = await imported();
  await renderAll();
  const { db, names } = listening();
  const emit = createOrderEmitter({ db, translator: createTranslator({ db: t.pool }) });
  const emitted = await emit(t.scope, { orderId: id, discipline: 'laboratory' });
  assert.deepEqual(
    emitted?.resources.map(({ resourceType }) => resourceType),
    ['ServiceRequest', 'Observation', 'DiagnosticReport'],
  );
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

test('a result that turns out to be another patient’s makes the texts of all orders that showed it count no more [FETCH-22, FETCH-25]', async () => {
  const [patient, other, result, ...ids] = Array.from({ length: 7 }, () => randomUUID());
  const subject = { reference: `Patient/${patient}` };
  const resultOf = (whom: string | undefined) => ({
    resourceType: 'Observation',
    id: result,
    status: 'final',
    code,
    subject: { reference: `Patient/${whom}` },
    valueString: 'positive',
  });
  const [first = '', second = '', ...reports] = ids;
  const orders = [first, second].map((id) => {
    const order = { resourceType: 'ServiceRequest', id, status: 'active', intent: 'order', code, subject };
    return { ...order, category: CATEGORY };
  });
  const listings = [first, second].map((order, index) => ({
    resourceType: 'DiagnosticReport',
    id: reports[index],
    status: 'final',
    code,
    subject,
    issued: `2024-05-0${index + 1}T10:00:00Z`,
    basedOn: [{ reference: `ServiceRequest/${order}` }],
    result: [{ reference: `Observation/${result}` }],
  }));
  const patients = [patient, other].map((id) => ({ resourceType: 'Patient', id }));
  await send(...patients, ...orders, resultOf(patient), ...listings);
  await renderAll();
  for (const order of [first, second]) assert.match(await read(order), /positive/);
  await send(resultOf(other));
  for (const order of [first, second]) assert.doesNotMatch(await read(order), /positive/);
  assert.deepEqual((await check()).different, []);
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

/**
 * Texts that are kept in databases were written by this version of the mapping. If another text is right now, raise
 * `OWN_MAPPING` in order-text.fhir.ts, or `OBSERVATION_MAPPING`, and write the new version and hash here.
 */
test('the text of an order whose parts have every element changes with the version of the mapping only', async () => {
  const [patient, order, specimen, study, result] = Array.from({ length: 5 }, () => randomUUID());
  const every = (resourceType: string, id: string | undefined, more: object) => ({
    ...withEveryElement(resourceType),
    resourceType,
    id,
    subject: refer('Patient', patient),
    ...more,
  });
  const basedOn = [refer('ServiceRequest', order)];
  await send(
    { resourceType: 'Patient', id: patient },
    every('ServiceRequest', order, {
      category: CATEGORY,
      basedOn: undefined,
      replaces: undefined,
      specimen: [refer('Specimen', specimen)],
    }),
    every('Specimen', specimen, {}),
    every('ImagingStudy', study, { basedOn }),
    every('Observation', result, { basedOn, dataAbsentReason: undefined, component: undefined }),
    every('DiagnosticReport', randomUUID(), {
      basedOn,
      result: [refer('Observation', result)],
      imagingStudy: [refer('ImagingStudy', study)],
      presentedForm: [{ ...(withEveryElement('Attachment') as object), contentType: 'text/plain' }],
    }),
  );
  const ids = new Map<string, number>();
  const text = (await read(order ?? '')).replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, (id) => {
    ids.set(id, ids.get(id) ?? ids.size);
    return `id-${ids.get(id)}`;
  });
  const hash = createHash('sha256').update(text).digest('hex');
  assert.deepEqual(
    [ORDER_MAPPING, hash],
    [3_008, '8d0763e0b5faba82fda0f2c29ba0b00ac71797bf08e0c71eacc76d8600871654'],
  );
});

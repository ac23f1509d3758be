/** The text that is kept beside the columns of an Observation: that it says what they say, and when it counts (docs/adr/0148). */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { ALL_RIGHT, useKeptTexts } from '../../../test-support/records/kept-texts.ts';
import {
  observationResource,
  vitalSetResources,
} from '../../../test-support/records/observation-resources.ts';
import { digits, listOf, localCoding, words } from '../../../test-support/records/random-content.ts';
import { sized } from '../../../test-support/sized.ts';
import { emitContext } from '../../clinical/content/coded-content.ts';
import { readRow } from '../../clinical/content/document.ts';
import { checkTexts } from '../../clinical/kept/check-texts.ts';
import { fillObservation, fillVitalSet, openObservation } from '../../clinical/kept/fill-observation.fhir.ts';
import { recordsAfter } from '../../clinical/kept/kept-texts.store.ts';
import { OBSERVATION_MAPPING } from '../../clinical/kept/observation-text.fhir.ts';
import { OBSERVATION_TEXTS } from '../../clinical/kept/observation-texts.store.ts';
import type { ObservationRecord } from '../../clinical/resources/observation.fhir.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { createInvestigationLoader } from '../investigation.store.ts';

const t = useKeptTexts('observation');
const { send, kept, change } = t;

const check = (options = {}) => checkTexts(t.pool, OBSERVATION_TEXTS, t.scope.organisationId, options);

const LOINC = 'http://loinc.org';
const UCUM = 'http://unitsofmeasure.org';
const CATEGORY = 'http://terminology.hl7.org/CodeSystem/observation-category';
const LOCAL = 'urn:example:local';

const decimal = digits.map((text) => `__${text}__`);
const loincCoding = fc.record(
  {
    system: fc.constant(LOINC),
    // A laboratory code, vital signs, one in a narrower code, a panel, and both pressures.
    code: fc.constantFrom('2951-2', '8867-4', '8889-8', '39156-5', '85353-1', '85354-9', '8480-6', '8462-4'),
    display: words,
  },
  { requiredKeys: ['system', 'code'] },
);
const concept = fc.record(
  { coding: listOf(fc.oneof(localCoding(['system', 'code']), loincCoding)), text: words },
  { requiredKeys: ['coding'] },
);
const quantity = fc.constantFrom('mmol/L', '/min', 'mm[Hg]', 'kg/m2').chain((unit) =>
  fc.record(
    {
      value: decimal,
      comparator: fc.constantFrom('<', '>='),
      unit: fc.constant(unit),
      system: fc.constant(UCUM),
      code: fc.constant(unit),
    },
    { requiredKeys: ['value', 'unit', 'system', 'code'] },
  ),
);
const value = fc.oneof(
  quantity.map((valueQuantity) => ({ valueQuantity })),
  concept.map((valueCodeableConcept) => ({ valueCodeableConcept })),
  fc.constantFrom('<0.50', 'negative').map((valueString) => ({ valueString })),
  fc.record({ valueRange: fc.record({ low: fc.record({ value: decimal }) }) }),
  fc.constant({}),
  concept.map((dataAbsentReason) => ({ dataAbsentReason })),
);
const range = fc.record(
  { low: fc.record({ value: decimal }), text: words, appliesTo: listOf(concept) },
  { requiredKeys: ['text'] },
);
const category = fc.oneof(
  concept,
  fc
    .constantFrom('laboratory', 'vital-signs', 'exam')
    .map((code) => ({ coding: [{ system: CATEGORY, code }] })),
);
const component = fc
  .record(
    { code: concept, interpretation: listOf(concept), referenceRange: listOf(range) },
    { requiredKeys: ['code'] },
  )
  .chain((one) => value.map((measured) => ({ ...one, ...measured })));

/** What an Observation may have beside its id, subject and value. */
function elements(others: readonly string[]) {
  const observations = others.map((id) => ({ reference: `Observation/${id}` }));
  return fc.record(
    {
      status: fc.constantFrom('final', 'amended'),
      code: concept,
      category: listOf(category),
      identifier: listOf(fc.record({ system: fc.constant(LOCAL), value: words })),
      basedOn: listOf(words.map((display) => ({ display }))),
      effectiveDateTime: fc.constantFrom('2024-02', '2024-02-03', '2024-02-03T10:00:00+01:00'),
      issued: fc.constant('2024-02-03T10:00:00.123456Z'),
      interpretation: listOf(concept),
      note: listOf(fc.record({ text: words })),
      bodySite: concept,
      referenceRange: listOf(range),
      hasMember: fc.subarray(observations, { minLength: 1 }),
      component: listOf(component),
    },
    { requiredKeys: ['status', 'code'] },
  );
}

const translations = fc
  .dictionary(fc.constantFrom('A', 'B-1', 'c.2'), fc.constantFrom('2951-2', '8867-4', '8480-6'))
  .map(
    (map) =>
      new Map(Object.entries(map).map(([local, code]) => [`${LOCAL}\n${local}`, [{ system: LOINC, code }]])),
  );

test('random changes by imports leave every text as the columns say it, and it fills to the resource that they give', async () => {
  const someone = { resourceType: 'Patient', id: randomUUID() };
  const ids = Array.from({ length: 4 }, () => randomUUID());
  await send(someone);
  const observation = fc
    .tuple(fc.constantFrom(...ids), elements(ids), value)
    .filter(([, given, measured]) => !('dataAbsentReason' in measured) || given.component === undefined)
    .filter(([, given, measured]) => Object.keys(measured).length === 0 || !isSaidTwice(given))
    .map(([id, given, measured]) => ({
      resourceType: 'Observation',
      id,
      subject: { reference: `Patient/${someone.id}` },
      ...given,
      ...measured,
    }));
  await fc.assert(
    fc.asyncProperty(
      fc.array(observation, { minLength: 1, maxLength: 6 }),
      translations,
      async (sent, maps) => {
        // A member of a panel has to come before or with it.
        await send({
          resourceType: 'Bundle',
          type: 'collection',
          entry: newest(sent).map((resource) => ({ resource })),
        });
        const { records, ...found } = await check();
        assert.deepEqual(found, ALL_RIGHT);
        assert.ok(records > 0);
        await assertFilled(maps);
      },
    ),
    { numRuns: sized(25, 600) },
  );
});

/**
 * R4 invariant obs-7 forbids a value beside a component with the code of the Observation. A heart rate by oximetry (8889-8) has
 * that of its profile, too (8867-4).
 */
function isSaidTwice({
  code,
  component = [],
}: {
  code: Coded;
  component?: { code: Coded }[] | undefined;
}): boolean {
  const own = code.coding.map((one) => one.code);
  const codes = own.includes('8889-8') ? [...own, '8867-4'] : own;
  return component.some((part) => part.code.coding.some((one) => codes.includes(one.code)));
}

interface Coded {
  coding: { code?: string | undefined }[];
}

/** A Bundle has each record once; members that it does not have are left out. */
function newest<One extends { id: string; hasMember?: unknown[] | undefined }>(sent: readonly One[]): One[] {
  const each = [...new Map(sent.map((one) => [one.id, one])).values()];
  const here = new Set(each.map(({ id }) => `Observation/${id}`));
  return each.map((one) => {
    const members = one.hasMember?.filter((member) => here.has((member as { reference: string }).reference));
    return { ...one, hasMember: members?.length === 0 ? undefined : members };
  });
}

async function assertFilled(maps: Parameters<typeof emitContext>[1]): Promise<void> {
  const { organisationId } = t.scope;
  const beforeAll = {
    facilityId: '00000000-0000-0000-0000-000000000000',
    id: '00000000-0000-0000-0000-000000000000',
  };
  const rows = await recordsAfter(t.pool, OBSERVATION_TEXTS, organisationId, {
    after: beforeAll,
    limit: 100,
  });
  const records = rows.map(
    ({ columns }) => readRow(OBSERVATION_TEXTS.fields, JSON.parse(columns)) as ObservationRecord,
  );
  const kept = rows.map(({ id, text }, index) =>
    openObservation(id, records[index]?.orderId ?? '', text ?? ''),
  );
  const context = emitContext(organisationId, maps);
  const filling = { translations: maps, inLaboratoryOrder: false };
  assert.deepEqual(
    kept.map((one) => fillObservation(one, filling).json),
    records.map((record) => JSON.stringify(observationResource(record, context))),
  );
  assert.deepEqual(
    fillVitalSet(kept, maps).map(({ json }) => json),
    vitalSetResources(records, context).map((resource) => JSON.stringify(resource)),
  );
}

async function imported(): Promise<{ id: string; orderId: string }> {
  const someone = { resourceType: 'Patient', id: randomUUID() };
  const result = {
    resourceType: 'Observation',
    id: randomUUID(),
    status: 'final',
    category: [{ coding: [{ system: CATEGORY, code: 'laboratory' }] }],
    code: { coding: [{ system: LOINC, code: '2951-2' }] },
    subject: { reference: `Patient/${someone.id}` },
    valueString: 'negative',
  };
  await send(someone, result);
  const { rows } = await t.pool.query<{ order_id: string }>({
    text: 'select order_id from observation where organisation_id = $1 and id = $2',
    values: [t.scope.organisationId, result.id],
  });
  return { id: result.id, orderId: rows[0]?.order_id ?? '' };
}

async function read(orderId: string, db: Queryable = t.pool): Promise<string> {
  const key = { scope: t.scope, id: orderId, discipline: 'laboratory' as const };
  const loaded = await createInvestigationLoader(db)(key);
  const [observation] = loaded?.record?.observations ?? [];
  assert.ok(observation);
  return fillObservation(observation, { translations: new Map(), inLaboratoryOrder: true }).json;
}

test('a wrong text is found and written anew; the version stays [CMD-22]', async () => {
  const { id } = await imported();
  const right = await kept(id);
  assert.deepEqual([right?.rendered_version, right?.rendered_mapping], [right?.version, OBSERVATION_MAPPING]);
  await change(id, "rendered = replace(rendered, 'negative', 'positive')");
  assert.deepEqual(await check(), { records: 1, missing: 0, different: [id] });
  assert.deepEqual((await check({ renew: true })).different, [id]);
  assert.deepEqual(await check(), { records: 1, ...ALL_RIGHT });
  assert.deepEqual(await kept(id), right);
});

test('a text of another version of the row does not count: an older process may have changed the columns', async () => {
  const { id, orderId } = await imported();
  await change(id, "value_text = 'positive', version = version + 1");
  assert.match(await read(orderId), /"valueString":"positive"/);
  assert.deepEqual(await check(), { records: 1, ...ALL_RIGHT });
});

test('a row without a text is rendered at its first read, and stays at its version', async () => {
  const { id, orderId } = await imported();
  const right = await kept(id);
  const answer = await read(orderId);
  await change(id, 'rendered = null, rendered_version = null, rendered_mapping = null');
  assert.equal(await read(orderId), answer);
  assert.deepEqual(await kept(id), right);
});

test('columns are asked for only where a text does not count', async () => {
  const { id, orderId } = await imported();
  const names: (string | undefined)[] = [];
  const listening: Queryable = {
    query: (statement) => {
      names.push(statement.name);
      return t.pool.query(statement);
    },
  };
  await read(orderId, listening);
  assert.deepEqual(names.splice(0), ['investigation-load']);
  await change(id, 'rendered = null');
  await read(orderId, listening);
  // The statement that keeps the text has no name.
  assert.deepEqual(names.splice(0), ['investigation-load', 'investigation-load-columns', undefined]);
  await read(orderId, listening);
  assert.deepEqual(names, ['investigation-load']);
});

test('a text of an older mapping is rendered at the first read; one of a newer mapping is left as it is', async () => {
  const { id, orderId } = await imported();
  const right = await kept(id);
  const answer = await read(orderId);
  await change(id, `rendered = 'older', rendered_mapping = ${OBSERVATION_MAPPING - 1}`);
  assert.equal(await read(orderId), answer);
  assert.deepEqual(await kept(id), right);
  await change(id, `rendered = 'newer', rendered_mapping = ${OBSERVATION_MAPPING + 1}`);
  assert.equal(await read(orderId), answer);
  assert.equal((await kept(id))?.rendered, 'newer');
});

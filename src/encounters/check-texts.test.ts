/** The text that is kept beside the columns of an Encounter: that it says what they say, and when it counts (docs/adr/0120). */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { encounter, organization, patient, practitioner } from '../../test-support/records/clinic.ts';
import { ALL_RIGHT, useKeptTexts } from '../../test-support/records/kept-texts.ts';
import { digits, listOf, localCoding, maybe, words } from '../../test-support/records/random-content.ts';
import { checkTexts } from '../clinical/kept/check-texts.ts';
import { transaction } from '../platform/db/database.ts';
import { ENCOUNTER_MAPPING, encounterJson } from './encounter.fhir.ts';
import { createEncounterReader, ENCOUNTER_TEXTS } from './encounter.store.ts';
import { createEncounterSearcher } from './search-encounters.store.ts';

const t = useKeptTexts('encounter');
const { send, kept, change } = t;

const check = (options = {}) => checkTexts(t.pool, ENCOUNTER_TEXTS, t.scope.organisationId, options);

async function imported(): Promise<{ id: string; patientId: string }> {
  const someone = patient();
  const visit = encounter(`Patient/${String(someone.id)}`);
  await send(someone, visit);
  return { id: String(visit.id), patientId: String(someone.id) };
}

async function read(id: string): Promise<string> {
  const found = await createEncounterReader(t.pool)({ scope: t.scope, id });
  assert.ok(found);
  return encounterJson(found.encounter);
}
async function search(patientId: string): Promise<string[]> {
  const page = await createEncounterSearcher(t.pool)({
    scope: t.scope,
    patientId,
    purposeOfUse: 'TREATMENT',
    status: undefined,
    date: undefined,
    limit: 20,
  });
  return (page?.encounters ?? []).map(({ encounter: one }) => encounterJson(one));
}

const concept = fc.record(
  { coding: listOf(localCoding(['code'])), text: words },
  { requiredKeys: ['coding'] },
);
const concepts = listOf(concept);
const identifier = fc.record(
  {
    use: fc.constantFrom('official', 'old'),
    system: fc.constant('urn:example:visits'),
    value: words,
    type: concept,
  },
  { requiredKeys: ['value'] },
);
const days = fc.constantFrom(
  '2024',
  '2024-02',
  '2024-02-03',
  '2024-02-03T10:00:00+01:00',
  '2024-02-03T10:00:00.123456Z',
);

test('random changes by imports leave every text as the columns say it', async () => {
  const people = [patient(), patient()];
  const [doctor, hospital] = [practitioner(), organization()];
  const ward = { resourceType: 'Location', id: randomUUID(), name: 'Ward 3' };
  const reference = (resource: { resourceType: string; id?: unknown }) => ({
    reference: `${resource.resourceType}/${String(resource.id)}`,
  });
  await send(...people, doctor, ward, hospital);
  const ids = Array.from({ length: 3 }, () => randomUUID());
  const named = (resource: { resourceType: string }) =>
    fc.oneof(
      fc.constant(reference(resource)),
      words.map((display) => ({ ...reference(resource), display })),
      words.map((display) => ({ display })),
    );
  const visit = fc.record({
    id: fc.constantFrom(...ids),
    subject: fc.constantFrom(...people.map(reference)),
    status: fc.constantFrom('planned', 'arrived', 'in-progress', 'finished', 'cancelled'),
    class: fc.constantFrom('AMB', 'IMP', 'X-LOCAL').map((code) => ({
      system: 'http://terminology.hl7.org/CodeSystem/v3-ActCode',
      code,
    })),
    identifier: maybe(fc.array(identifier, { minLength: 1, maxLength: 3 })),
    type: maybe(concepts),
    serviceType: maybe(concept),
    priority: maybe(concept),
    reasonCode: maybe(concepts),
    length: maybe(
      fc.record({
        value: digits.map((value) => `__${value}__`),
        unit: fc.constant('d'),
        system: fc.constant('http://unitsofmeasure.org'),
        code: fc.constant('d'),
      }),
    ),
    period: maybe(
      fc.constantFrom<object>(
        { start: '2024-01-01' },
        { end: '2025-06' },
        { start: '2024-01-01', end: '2025-06' },
      ),
    ),
    participant: maybe(
      fc.array(
        fc.record({
          individual: named(doctor),
          type: maybe(concepts),
          period: maybe(fc.record({ start: days })),
        }),
        {
          minLength: 1,
          maxLength: 3,
        },
      ),
    ),
    location: maybe(
      fc.array(
        fc.record({
          location: named(ward),
          physicalType: maybe(concept),
          status: maybe(fc.constant('active')),
        }),
        {
          minLength: 1,
          maxLength: 2,
        },
      ),
    ),
    hospitalization: maybe(
      fc.record({
        preAdmissionIdentifier: maybe(identifier),
        origin: maybe(named(ward)),
        admitSource: concept,
        dietPreference: maybe(concepts),
        dischargeDisposition: maybe(concept),
      }),
    ),
    serviceProvider: maybe(named(hospital)),
    partOf: maybe(words.map((display) => ({ display }))),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(visit, { minLength: 1, maxLength: 6 }), async (visits) => {
      await send(...visits.map((one) => ({ resourceType: 'Encounter', ...one })));
      const { records, ...found } = await check();
      assert.deepEqual(found, ALL_RIGHT);
      assert.ok(records > 0);
    }),
    { numRuns: 40 },
  );
});

test('a wrong text is found and written anew; the version stays [CMD-22]', async () => {
  const { id } = await imported();
  const right = await kept(id);
  assert.deepEqual(
    [right.rendered_version, right.rendered_mapping, right.version],
    [1, ENCOUNTER_MAPPING, 1],
  );
  await change(id, "rendered = replace(rendered, 'finished', 'planned')");
  assert.deepEqual(await check(), { records: 1, missing: 0, different: [id] });
  assert.deepEqual((await check({ renew: true })).different, [id]);
  assert.deepEqual(await check(), { records: 1, ...ALL_RIGHT });
  assert.deepEqual(await kept(id), right);
});

test('a text of an older mapping is missing, and is written anew [CMD-22]', async () => {
  const { id } = await imported();
  const right = await kept(id);
  await change(id, `rendered = 'older', rendered_mapping = ${ENCOUNTER_MAPPING - 1}`);
  assert.deepEqual(await check({ renew: true }), { records: 1, missing: 1, different: [] });
  assert.deepEqual(await kept(id), right);
});

test('a text of another version of the row does not count: an older process may have changed the columns', async () => {
  const { id, patientId } = await imported();
  await change(id, "status = 'cancelled', version = version + 1");
  assert.match((await search(patientId))[0] ?? '', /"versionId":"2".*"status":"cancelled"/);
  assert.match(await read(id), /"versionId":"2".*"status":"cancelled"/);
  assert.deepEqual(await check(), { records: 1, ...ALL_RIGHT });
});

test('a row without a text is rendered at its first read, and stays at its version', async () => {
  const { id, patientId } = await imported();
  const right = await kept(id);
  const answer = await read(id);
  const without = 'rendered = null, rendered_version = null, rendered_mapping = null';
  await change(id, without);
  assert.equal(await read(id), answer);
  assert.deepEqual(await kept(id), right);
  await change(id, without);
  assert.deepEqual(await search(patientId), [answer]);
  assert.deepEqual(await kept(id), right);
});

test('a text of an older mapping is rendered at the first read; one of a newer mapping is left as it is', async () => {
  const { id, patientId } = await imported();
  const right = await kept(id);
  const answer = await read(id);
  for (const answersOf of [async () => [await read(id)], () => search(patientId)]) {
    await change(id, `rendered = 'older', rendered_mapping = ${ENCOUNTER_MAPPING - 1}`);
    assert.deepEqual(await answersOf(), [answer]);
    assert.deepEqual(await kept(id), right);
    await change(id, `rendered = 'newer', rendered_mapping = ${ENCOUNTER_MAPPING + 1}`);
    assert.deepEqual(await answersOf(), [answer]);
    assert.equal((await kept(id)).rendered, 'newer');
  }
});

test('a read does not wait for an import that is changing the row', async () => {
  const { id } = await imported();
  await change(id, 'rendered = null');
  await transaction(t.pool, async (client) => {
    await client.query({
      text: "update encounter set status = 'cancelled', version = 2 where organisation_id = $1 and facility_id = $2 and id = $3",
      values: [t.scope.organisationId, t.scope.facilityId, id],
    });
    assert.match(await read(id), /"versionId":"1".*"status":"finished"/);
  });
  assert.match(await read(id), /"versionId":"2".*"status":"cancelled"/);
});

/** The text that a patient is kept as for lists: that it says what the columns say, and when it counts (docs/adr/0117). */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { patient } from '../../../test-support/records/clinic.ts';
import { ALL_RIGHT, useKeptTexts } from '../../../test-support/records/kept-texts.ts';
import { listOf, localCoding, maybe, words } from '../../../test-support/records/random-content.ts';
import { checkTexts } from '../../clinical/kept/check-texts.ts';
import { PATIENT_TEXTS } from './patient-texts.store.ts';
import { createPatientSearcher } from './search-patients.store.ts';
import { PATIENT_MAPPING } from './summary-text.fhir.ts';

const t = useKeptTexts('patient');
const { send, kept, change } = t;

const check = (options = {}) => checkTexts(t.pool, PATIENT_TEXTS, t.scope.organisationId, options);
const WITHOUT = 'rendered = null, rendered_version = null, rendered_mapping = null';

async function imported(): Promise<string> {
  const someone = patient();
  await send(someone);
  return String(someone.id);
}

/** What a list of all shows of the only patient. */
async function listed(): Promise<string> {
  const search = { terms: undefined, purposeOfUse: 'OPS', limit: 21 } as const;
  const found = await createPatientSearcher(t.pool)(t.scope, search);
  assert.equal(found.length, 1);
  return found[0]?.summary ?? '';
}

const list = <Value>(value: fc.Arbitrary<Value>) => listOf(value, 3);
const period = fc.record(
  { start: fc.constantFrom('2001', '2001-02-03'), end: fc.constantFrom('2010-12', '2011-01-01T10:00:00Z') },
  { requiredKeys: [] },
);
const name = fc.record(
  {
    use: fc.constantFrom('official', 'usual', 'old', 'maiden'),
    text: words,
    family: words,
    given: list(words),
    prefix: list(words),
    suffix: list(words),
    period,
  },
  { requiredKeys: ['family'] },
);
const identifier = fc.record(
  {
    use: fc.constantFrom('official', 'old'),
    type: fc.record({ text: words, coding: list(localCoding(['code'])) }, { requiredKeys: ['coding'] }),
    system: fc.constantFrom('urn:example:one', 'urn:example:two'),
    value: words,
    period,
    assigner: fc.record({ display: words }),
  },
  { requiredKeys: ['value'] },
);
const death = fc.constantFrom<object>(
  {},
  { deceasedBoolean: true },
  { deceasedBoolean: false },
  { deceasedDateTime: '2023-12-24' },
);

test('random changes by imports leave every text as the columns say it', async () => {
  const ids = Array.from({ length: 3 }, () => randomUUID());
  const someone = fc
    .record({
      id: fc.constantFrom(...ids),
      name: maybe(list(name)),
      identifier: maybe(list(identifier)),
      telecom: maybe(list(fc.record({ system: fc.constant('phone'), value: words }))),
      gender: maybe(fc.constantFrom('male', 'female', 'other', 'unknown')),
      meta: maybe(fc.record({ versionId: fc.constantFrom('1', '2', '3') })),
      death,
    })
    // The birth date stays: it is the same person.
    .map(({ death: how, ...one }) => ({ resourceType: 'Patient', birthDate: '1970-01-01', ...one, ...how }));
  await fc.assert(
    fc.asyncProperty(list(someone), async (people) => {
      await send(...people);
      const { records, ...found } = await check();
      assert.deepEqual(found, ALL_RIGHT);
      assert.ok(records > 0);
    }),
    { numRuns: 40 },
  );
});

test('a wrong text is found and written anew; the version stays [CMD-22]', async () => {
  const id = await imported();
  const right = await kept(id);
  assert.deepEqual([right.rendered_version, right.rendered_mapping, right.version], [1, PATIENT_MAPPING, 1]);
  await change(id, "rendered = replace(rendered, 'female', 'male')");
  assert.deepEqual(await check(), { records: 1, missing: 0, different: [id] });
  assert.deepEqual((await check({ renew: true })).different, [id]);
  assert.deepEqual(await check(), { records: 1, ...ALL_RIGHT });
  assert.deepEqual(await kept(id), right);
});

test('a text of another version of the row does not count: an older process may have changed the columns', async () => {
  const id = await imported();
  await change(id, "gender = 'other', version = version + 1");
  assert.equal(JSON.parse(await listed()).gender, 'other');
  assert.deepEqual(await check(), { records: 1, ...ALL_RIGHT });
});

test('a patient without a text is rendered at the first search, and stays at its version', async () => {
  const id = await imported();
  const right = await kept(id);
  const answer = await listed();
  await change(id, WITHOUT);
  assert.equal(await listed(), answer);
  assert.deepEqual(await kept(id), right);
});

test('a text of an older mapping is rendered at the first search; one of a newer mapping is left as it is', async () => {
  const id = await imported();
  const right = await kept(id);
  const answer = await listed();
  await change(id, `rendered = 'older', rendered_mapping = ${PATIENT_MAPPING - 1}`);
  assert.equal(await listed(), answer);
  assert.deepEqual(await kept(id), right);
  await change(id, `rendered = 'newer', rendered_mapping = ${PATIENT_MAPPING + 1}`);
  assert.equal(await listed(), answer);
  assert.equal((await kept(id)).rendered, 'newer');
});

test('a search does not wait for an import that is changing the row', async () => {
  const id = await imported();
  await change(id, WITHOUT);
  const client = await t.pool.connect();
  try {
    await client.query('begin');
    await client.query({
      text: "update patient set gender = 'other', version = 2 where organisation_id = $1 and id = $2",
      values: [t.scope.organisationId, id],
    });
    assert.equal(JSON.parse(await listed()).gender, 'female');
    await client.query('commit');
  } finally {
    client.release();
  }
  assert.equal(JSON.parse(await listed()).gender, 'other');
});

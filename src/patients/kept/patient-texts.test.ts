/** The text that a patient is kept as: that it says what the columns say, and when it counts (docs/adr/0117). */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { patient } from '../../../test-support/records/clinic.ts';
import { ALL_RIGHT, useKeptTexts } from '../../../test-support/records/kept-texts.ts';
import { listOf, localCoding, maybe, words } from '../../../test-support/records/random-content.ts';
import { checkTexts } from '../../clinical/kept/check-texts.ts';
import { transaction } from '../../platform/db/database.ts';
import { createPatientReader } from '../patient.store.ts';
import { createPatientSearcher } from '../search/search-patients.store.ts';
import { PATIENT_MAPPING } from './patient-text.fhir.ts';
import { PATIENT_TEXTS } from './patient-texts.store.ts';

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
  const { patients: found } = await createPatientSearcher(t.pool)(t.scope, search);
  assert.equal(found.length, 1);
  return found[0]?.summary ?? '';
}

/** What the answer for one patient is made of. */
const read = (id: string) =>
  createPatientReader(t.pool)({ scope: t.scope, purposeOfUse: 'TREATMENT', id }).then((found) => found?.text);

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

const concept = fc.record({ text: words, coding: list(localCoding(['code'])) }, { requiredKeys: ['text'] });
const telecom = fc.record(
  {
    system: fc.constantFrom('phone', 'email'),
    value: words,
    use: fc.constant('home'),
    rank: fc.integer({ min: 1, max: 9 }),
  },
  { requiredKeys: ['system', 'value'] },
);
const address = fc.record(
  {
    use: fc.constant('home'),
    text: words,
    line: list(words),
    city: words,
    postalCode: words,
    country: words,
  },
  { requiredKeys: ['city'] },
);
const birth = fc.constantFrom<object>({}, { multipleBirthBoolean: false }, { multipleBirthInteger: 2 });

test('random changes by imports leave every text as the columns say it', async () => {
  const ids = Array.from({ length: 3 }, () => randomUUID());
  const someone = fc
    .record({
      id: fc.constantFrom(...ids),
      name: maybe(list(name)),
      identifier: maybe(list(identifier)),
      telecom: maybe(list(telecom)),
      active: maybe(fc.boolean()),
      maritalStatus: maybe(concept),
      address: maybe(list(address)),
      communication: maybe(list(fc.record({ language: concept, preferred: fc.boolean() }))),
      contact: maybe(list(fc.record({ name, telecom: list(telecom), address, gender: fc.constant('male') }))),
      gender: maybe(fc.constantFrom('male', 'female', 'other', 'unknown')),
      meta: maybe(fc.record({ versionId: fc.constantFrom('1', '2', '3') })),
      death,
      birth,
    })
    // The birth date stays: it is the same person.
    .map(({ death: how, birth: which, ...one }) => ({
      ...{ resourceType: 'Patient', birthDate: '1970-01-01' },
      ...{ ...one, ...how, ...which },
    }));
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

test('a patient without a text is rendered at the first search or read, and stays at its version', async () => {
  const id = await imported();
  const right = await kept(id);
  for (const answered of [listed, read]) {
    const answer = await answered(id);
    await change(id, WITHOUT);
    assert.equal(await answered(id), answer);
    assert.deepEqual(await kept(id), right);
  }
});

test('a text of an older mapping is rendered at the first search or read; one of a newer is left as it is', async () => {
  const id = await imported();
  const right = await kept(id);
  for (const answered of [listed, read]) {
    const answer = await answered(id);
    await change(id, `rendered = 'older', rendered_mapping = ${PATIENT_MAPPING - 1}`);
    assert.equal(await answered(id), answer);
    assert.deepEqual(await kept(id), right);
    await change(id, `rendered = 'newer', rendered_mapping = ${PATIENT_MAPPING + 1}`);
    assert.equal(await answered(id), answer);
    assert.equal((await kept(id)).rendered, 'newer');
    await change(id, `rendered_mapping = ${PATIENT_MAPPING - 1}`);
    await answered(id);
  }
});

test('a search does not wait for an import that is changing the row', async () => {
  const id = await imported();
  await change(id, WITHOUT);
  await transaction(t.pool, async (client) => {
    await client.query({
      text: "update patient set gender = 'other', version = 2 where organisation_id = $1 and id = $2",
      values: [t.scope.organisationId, id],
    });
    assert.equal(JSON.parse(await listed()).gender, 'female');
  });
  assert.equal(JSON.parse(await listed()).gender, 'other');
});

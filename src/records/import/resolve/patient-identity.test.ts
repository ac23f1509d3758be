/** An id that comes with another person: refused. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { bundle, encounter, patient, type Resource } from '../../../../test-support/records/clinic.ts';
import { useImportTest } from '../../../../test-support/records/import.ts';

const REASON =
  'Patient differs from the record with this id in name, birth date and sex, so it may be another person. Give another person another id. A correction must keep one of the three';
const OTHER = { name: [{ family: 'Stone', given: ['Abel'] }], gender: 'male', birthDate: '1950-12-31' };

const t = await useImportTest();

const nameOf = async ({ id }: Resource) =>
  (await t.rows<{ sort_name: string }>('select sort_name from patient where id = $1', [id]))[0]?.sort_name;

describe('another person under the id of a patient', () => {
  for (const dryRun of [true, false])
    test(`rejects the Bundle, names the entry and no value, and changes nothing; dry run: ${dryRun} [IN-21]`, async () => {
      const [stored, beside] = [patient(), patient()];
      await t.run([stored]);
      const document = await t.run(
        [bundle([beside, { ...stored, ...OTHER }, encounter(`Patient/${stored.id}`)])],
        {
          dryRun,
        },
      );
      assert.deepEqual(document.rejected, [
        { file: '0.json', entry: 2, resourceType: 'Patient', reason: REASON },
      ]);
      assert.deepEqual([document.resources, document.unchanged], [{}, {}]);
      assert.deepEqual([await nameOf(stored), await nameOf(beside)], ['rivers noor', undefined]);
    });

  test('also by lines, by a conditional update, at another facility, and after a line before it', async () => {
    const stored = patient();
    await t.run([stored]);
    const other = { ...stored, ...OTHER };
    const [identifier] = stored.identifier as { system: string; value: string }[];
    const url = `Patient?identifier=${identifier?.system}|${identifier?.value}`;
    const update = bundle([
      { resource: { ...other, id: undefined }, request: { method: 'PUT', url } },
    ] as never);
    const elsewhere = await t.createFacility(t.scope.organisationId);
    const lines = [patient(), other].map((line) => JSON.stringify(line)).join('\n');
    const first = patient();
    const twice = [first, { ...first, ...OTHER }].map((line) => JSON.stringify(line)).join('\n');
    for (const [document, scope, dryRun] of [
      [lines, t.scope, false],
      [lines, t.scope, true],
      [update, t.scope, false],
      [other, elsewhere, false],
      [twice, t.scope, true],
      [twice, t.scope, false],
    ] as const) {
      const { rejected } = await t.run([document], { scope, dryRun });
      assert.deepEqual(
        rejected.map(({ reason }) => reason),
        [REASON],
      );
    }
    assert.deepEqual([await nameOf(stored), await nameOf(first)], ['rivers noor', 'rivers noor']);
  });

  test('is told from a correction, from what is not known, and from a date of less precision', async () => {
    for (const [before, change] of [
      [{}, { ...OTHER, gender: 'female' }],
      [{}, { ...OTHER, birthDate: '1984-05-01' }],
      [{}, { ...OTHER, birthDate: '1984' }],
      [{ birthDate: '1950' }, OTHER],
      [{}, { ...OTHER, name: [{ family: 'RIVERS', given: ['Noor'] }] }],
      [{}, { ...OTHER, name: undefined }],
      [{}, { ...OTHER, gender: undefined }],
      [{}, { ...OTHER, birthDate: undefined }],
      [{ gender: undefined }, OTHER],
      [{ birthDate: undefined }, OTHER],
      [{ name: undefined }, OTHER],
      [{ gender: 'unknown' }, OTHER],
      [{}, { ...OTHER, gender: 'unknown' }],
    ] as const) {
      const stored = patient(before);
      await t.run([stored]);
      const { rejected } = await t.run([{ ...stored, ...change }]);
      assert.deepEqual(rejected, [], JSON.stringify([before, change]));
    }
  });

  test('of two imports at one time that bring two persons under one new id, one is refused', async () => {
    for (let round = 0; round < 10; round += 1) {
      const one = patient();
      const documents = await Promise.all(
        [one, { ...one, ...OTHER }].map((resource) => t.run([bundle([resource])])),
      );
      assert.deepEqual(
        documents.flatMap(({ rejected }) => rejected.map(({ reason }) => reason)),
        [REASON],
      );
    }
  });

  test('of two changes at one time that each go halfway, one is refused when both would swap the person', async () => {
    for (let round = 0; round < 10; round += 1) {
      const stored = patient();
      await t.run([stored]);
      const halves = [
        { ...stored, name: OTHER.name },
        { ...stored, ...OTHER, name: stored.name },
      ];
      const documents = await Promise.all(halves.map((resource) => t.run([bundle([resource])])));
      const refused = documents.flatMap(({ rejected }) => rejected);
      assert.equal(refused.length, 1);
    }
  });
});

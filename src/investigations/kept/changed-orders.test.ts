/** Whatever is imported, no text of an order counts that shows something else than the order and its parts (docs/adr/0153). */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { createImportTest, type ImportTest } from '../../../test-support/records/import.ts';
import { sized } from '../../../test-support/sized.ts';
import { checkTexts } from '../../clinical/kept/check-texts.ts';
import { ORDER_TEXTS, renderChangedOrders } from './order-texts.store.ts';

let t: ImportTest;
before(async () => {
  t = await createImportTest();
});
after(() => t.database.drop());

const coded = (system: string, code: string) => [{ coding: [{ system, code }] }];
const category = fc.constantFrom(
  undefined,
  coded('http://terminology.hl7.org/CodeSystem/observation-category', 'laboratory'),
  coded('http://terminology.hl7.org/CodeSystem/observation-category', 'imaging'),
);
const word = fc.constantFrom('one', 'two', 'three');
const code = word.map((text) => ({ text }));
const patient = (...ids: string[]) => fc.constantFrom(...ids).map((id) => ({ reference: `Patient/${id}` }));
// Mostly of the first patient, so that most references are good.
const subject = patient('a', 'a', 'a', 'a', 'a', 'a', 'a', 'b');
const named = (letter: string, count: number) => fc.nat(count - 1).map((number) => `${letter}${number}`);
const referring = (type: string, letter: string, count: number, maxLength: number) =>
  fc
    .uniqueArray(named(letter, count), { maxLength })
    .map((ids) => (ids.length === 0 ? undefined : ids.map((id) => ({ reference: `${type}/${id}` }))));
const basedOn = referring('ServiceRequest', 's', 3, 1);
const specimen = referring('Specimen', 'm', 2, 1);

const of = (resourceType: string, id: fc.Arbitrary<string>, members: Record<string, fc.Arbitrary<unknown>>) =>
  fc.record({ resourceType: fc.constant(resourceType), id, subject, ...members });
const record = fc.oneof(
  of('ServiceRequest', named('s', 3), {
    status: fc.constant('active'),
    intent: fc.constant('order'),
    code,
    category,
    specimen,
  }),
  of('Specimen', named('m', 2), { type: code, request: basedOn }),
  of('ImagingStudy', named('i', 2), { status: fc.constant('available'), description: word, basedOn }),
  of('Observation', named('o', 4), {
    status: fc.constant('final'),
    code,
    category,
    subject: patient('a', 'a', 'b'),
    valueString: word,
    basedOn: fc.oneof(fc.constant(undefined), basedOn),
    hasMember: referring('Observation', 'o', 4, 1),
    specimen: specimen.map((list) => list?.[0]),
  }),
  of('DiagnosticReport', named('r', 4), {
    status: fc.constant('final'),
    code,
    category,
    conclusion: word,
    issued: fc.constantFrom('2024-01-01T00:00:00Z', '2024-01-02T00:00:00Z'),
    basedOn,
    result: referring('Observation', 'o', 4, 3),
    imagingStudy: referring('ImagingStudy', 'i', 2, 1),
    specimen,
  }),
);
const records = (minLength: number, maxLength: number) =>
  fc.uniqueArray(record, { minLength, maxLength, selector: ({ id }) => id });

test('records of two patients, imported and changed at random', async () => {
  const patients = ['a', 'b'].map((id) => ({ resourceType: 'Patient', id }));
  const imports = fc.tuple(records(12, 16), fc.array(records(1, 3), { minLength: 12, maxLength: 12 }));
  await fc.assert(
    fc.asyncProperty(imports, async ([first, later]) => {
      const scope = await t.createOrganisation();
      for (const changed of [[...patients, ...first], ...later]) {
        // Each in a file of its own. Some are refused, such as a result that is of another patient than its order.
        await t.run(changed, { scope });
        const { different } = await checkTexts(t.database.pool, ORDER_TEXTS, scope.organisationId);
        assert.deepEqual(different, []);
        while (await renderChangedOrders(t.database.pool, scope.organisationId));
      }
    }),
    { numRuns: sized(3, 40), endOnFailure: true },
  );
});

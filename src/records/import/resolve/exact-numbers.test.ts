/** Resources that differ in the digits of a number alone are two, and none of them is left out. */
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { patient, type Resource } from '../../../../test-support/records/clinic.ts';
import { useImportTest } from '../../../../test-support/records/import.ts';

let person: Resource;

const t = await useImportTest();
beforeEach(async () => {
  person = patient();
  assert.deepEqual((await t.run([person])).rejected, []);
});

/** JSON of a result with the number as it is written here, and without an id unless one is given. */
function result(number: string, id?: string): string {
  const { value, ...rest } = {
    resourceType: 'Observation',
    ...(id === undefined ? {} : { id }),
    status: 'final',
    category: [
      {
        coding: [
          { system: 'http://terminology.hl7.org/CodeSystem/observation-category', code: 'vital-signs' },
        ],
      },
    ],
    code: { coding: [{ system: 'http://loinc.org', code: '8867-4' }] },
    subject: { reference: `Patient/${person.id}` },
    effectiveDateTime: '2024-01-01T10:00:00Z',
    value: { unit: '/min', system: 'http://unitsofmeasure.org', code: '/min' },
  };
  const quantity = `{"value":${number},${JSON.stringify(value).slice(1)}`;
  return `${JSON.stringify(rest).slice(0, -1)},"valueQuantity":${quantity}}`;
}

const bundle = (...resources: string[]) =>
  `{"resourceType":"Bundle","type":"collection","entry":[${resources.map((one) => `{"resource":${one}}`).join(',')}]}`;

async function stored(): Promise<string[]> {
  const rows = await t.rows<{ value_number: string }>(
    'select value_number from observation where patient_id = $1 order by value_number::text',
    [person.id],
  );
  return rows.map((row) => row.value_number);
}

test('in a Bundle an entry with other digits under the same id is not taken for a repetition [HTTP-29]', async () => {
  const [id, twice] = ['o-1', '9007199254740992'];
  const { rejected } = await t.run([bundle(result('9007199254740993', id), result(twice, id))]);
  assert.deepEqual(
    rejected.map(({ entry, reason }) => [entry, reason]),
    [[2, 'The entry has the same type and id as entry 1, but other content']],
  );
  assert.deepEqual(await stored(), []);
  assert.deepEqual((await t.run([bundle(result(twice, id), result(twice, id))])).rejected, []);
  assert.deepEqual(await stored(), [twice]);
});

for (const [name, documentsOf] of [
  ['a Bundle', (...results: string[]) => [bundle(...results)]],
  ['NDJSON', (...results: string[]) => [results.join('\n')]],
  ['single resources', (...results: string[]) => results],
] as const)
  test(`results without an id that differ in their digits are two: ${name} [HTTP-29, IN-15]`, async () => {
    const documents = documentsOf(result('7.0'), result('7'));
    for (let times = 0; times < 2; times += 1) {
      assert.deepEqual((await t.run(documents)).rejected, []);
      assert.deepEqual(await stored(), ['7', '7.0']);
    }
  });

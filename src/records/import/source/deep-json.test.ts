/** JSON that is nested without end, or has values without end, is refused before it is parsed: each takes memory and time. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { useImportTest } from '../../../../test-support/records/import.ts';
import { DEFAULT_LIMITS } from './limits.ts';

const t = await useImportTest();

const LIMIT = 1_000;
const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
const patient = (levels: number) =>
  `{"resourceType":"Patient","id":"1","name":[{"family":"A"}],"extension":[{"b":${nested(levels - 3)}}]}`;
const reason = 'is nested deeper than 1000 levels. Send a flatter document';

test('a resource, a line, and an entry of a Bundle may be nested 1,000 levels deep, not more [IN-49]', async () => {
  const bundle = (resource: string) =>
    `{"resourceType":"Bundle","type":"collection","entry":[{"resource":${resource}}]}`;
  const taken = await t.run([
    patient(LIMIT),
    bundle(patient(LIMIT - 1)),
    `${patient(LIMIT)}\n${patient(LIMIT)}`,
  ]);
  assert.deepEqual(taken.rejected, []);
  const { rejected } = await t.run([
    patient(LIMIT + 1),
    bundle(patient(LIMIT)),
    `${patient(LIMIT)}\n${patient(LIMIT + 1)}`,
    `{"resourceType":"Bundle","type":"collection","a":${nested(LIMIT)},"entry":[]}`,
  ]);
  assert.deepEqual(
    rejected.map(({ file, entry, reason: given }) => [file, entry, given]),
    [
      ['0.json', null, reason],
      ['1.json', 1, `The entry ${reason}`],
      ['2.json', 2, `The line ${reason}`],
      ['3.json', null, reason],
    ],
  );
});

test('JSON that is nested deeper is not parsed, not even to tell NDJSON from a document [IN-49]', async () => {
  const deep = nested(20_000);
  const longest = await longestParsed(async () => {
    for (const second of ['x', patient(LIMIT)]) {
      const { rejected } = await t.run([`${deep}\n${second}`]);
      assert.match(rejected[0]?.reason ?? '', /is nested deeper than 1000 levels/);
    }
  });
  assert.ok(longest < deep.length);
});

/** Characters of the longest JSON that is parsed meanwhile. */
async function longestParsed(work: () => Promise<void>): Promise<number> {
  let longest = 0;
  const { parse } = JSON;
  JSON.parse = (text, ...more) => {
    longest = Math.max(longest, String(text).length);
    return parse(text, ...more);
  };
  try {
    await work();
  } finally {
    JSON.parse = parse;
  }
  return longest;
}

test('a resource may have 250,000 values, not more; others of the file are taken [IN-54]', async () => {
  // Seven other values: the resource, its type and id, two lists, the name and the family.
  const wide = (id: string, values: number) =>
    `{"resourceType":"Patient","id":"${id}","name":[{"family":"A"}],"extension":[${Array(values - 7)
      .fill('1.0')
      .join(',')}]}`;
  const { rejected, resources } = await t.run([
    `${wide('fits', 250_000)}\n${wide('too-wide', 250_001)}\n${patient(3).replace('"1"', '"small"')}`,
    `{"resourceType":"Bundle","type":"collection","entry":[{"resource":${wide('too-wide', 250_001)}}]}`,
    wide('too-wide', 250_001),
  ]);
  assert.deepEqual(
    rejected.map(({ entry, reason: given }) => [entry, given]),
    [2, 1, 1].map((entry) => [
      entry,
      'The resource has more than the limit of 250000 values. Send less of it',
    ]),
  );
  assert.deepEqual(resources, { Patient: 2 });
});

test('a resource with more values is not parsed: it is rejected, or not taken as others of its type [IN-6, IN-54]', async () => {
  const values = Array(300_000).fill('{}').join(',');
  const wide = (resourceType: string) => `{"x":[${values}],"resourceType":"${resourceType}"}`;
  const small = patient(3);
  const bundle = (resource: string) =>
    `{"entry":[{"resource":${resource}}],"resourceType":"Bundle","type":"collection"}`;
  // A Bundle on a line may have as many values as its entries have together.
  const many = Array.from(
    { length: 60 },
    (_, index) =>
      `{"resource":{"resourceType":"Basic","id":"${index}","x":[${Array(5_000).fill(1).join(',')}]}}`,
  );
  const line = `{"entry":[${many.join(',')},{"resource":${small}}],"resourceType":"Bundle","type":"batch"}`;
  const longest = await longestParsed(async () => {
    const { rejected, resources, notTaken } = await t.run([
      wide('Patient'),
      wide('Group'),
      `${wide('Patient')}\n${wide('Group')}\n${small}`,
      `${wide('Patient')}\nx`,
      bundle(wide('Patient')),
      bundle(wide('Group')),
      `${line}\n${small}`,
      `{"resourceType":"Bundle","type":"batch","link":[${values}]}`,
    ]);
    const tooMany = 'The resource has more than the limit of 250000 values. Send less of it';
    assert.deepEqual(
      rejected.map(({ file, entry, resourceType, reason: given }) => [file, entry, resourceType, given]),
      [
        ['0.json', 1, 'Patient', tooMany],
        ['2.json', 1, 'Patient', tooMany],
        ['3.json', 1, 'Patient', tooMany],
        ['3.json', 2, undefined, 'The line is not valid JSON'],
        ['4.json', 1, 'Patient', tooMany],
        ['7.json', null, 'Bundle', tooMany],
      ],
    );
    assert.deepEqual([resources, notTaken], [{ Patient: 3 }, { Basic: 60, Group: 3 }]);
  });
  assert.ok(longest < values.length, String(longest));
});

test('what has many values and is no FHIR is called that, as what has few [IN-54]', async () => {
  const patients = Array(60_000).fill('{"resourceType":"Patient","id":"1","active":true,"gender":"other"}');
  const { rejected } = await t.run([
    'a,b,c,d,e\n'.repeat(60_000),
    `<a>${','.repeat(500_000)}</a>`,
    `[${patients.join(',')}]`,
    `{"type":"FeatureCollection","features":[${patients.join(',')}]}`,
  ]);
  assert.deepEqual(
    rejected.map(({ entry, reason: given }) => [entry, given]),
    [
      [null, 'is not valid JSON'],
      [null, 'is XML or HTML. Send FHIR as JSON'],
      [null, 'is a JSON list. Send a Bundle, one resource, or NDJSON with a resource on each line'],
      [null, 'is JSON, but not FHIR: resourceType is missing or is not a FHIR resource type'],
    ],
  );
});

test('the type of a resource with many values is its own, not that of a resource inside [IN-6, IN-54]', async () => {
  const wide = (type: string, inside: string) =>
    `{"contained":[{"resourceType":"${inside}"}],"x":[${Array(300_000).fill(1).join(',')}],"resourceType":"${type}"}`;
  const other = wide('Questionnaire', 'Practitioner');
  const small = patient(3);
  const { rejected, resources, notTaken } = await t.run([
    `{"resourceType":"Bundle","type":"batch","entry":[{"resource":${other}},{"resource":${wide('Bundle', 'Patient')}},{"resource":${small}}]}`,
    other,
    `${other}\n${wide('Patient', 'Bundle')}\n${small}`,
  ]);
  assert.deepEqual(
    rejected.map(({ file, entry, resourceType }) => [file, entry, resourceType]),
    [['2.json', 2, 'Patient']],
  );
  assert.deepEqual([resources, notTaken], [{ Patient: 2 }, { Questionnaire: 3, Bundle: 1 }]);
});

test('lines with too many values do not end the reading of a file, as lines that are no FHIR do [IN-14, IN-54]', async () => {
  const wide = `{"resourceType":"Patient","x":[${','.repeat(500_000)}]}`;
  const { rejectedCount, resources } = await t.run([`${wide}\n${wide}\n${patient(3)}`], {
    deps: { limits: { ...DEFAULT_LIMITS, maxFaults: 2 } },
  });
  assert.deepEqual([rejectedCount, resources], [2, { Patient: 1 }]);
});

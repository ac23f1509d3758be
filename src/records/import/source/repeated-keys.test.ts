/** JSON objects that have a key twice are refused, with the path of the key. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { useImportTest } from '../../../../test-support/records/import.ts';

const t = await useImportTest();

const TWICE = 'is there twice in one JSON object, so that one of them would be lost. Send it once';
const PATIENT = '{"resourceType":"Patient","id":"1","name":[{"family":"A","family":"B"}]}';
const GOOD = '{"resourceType":"Patient","id":"2","name":[{"family":"A"},{"family":"B"}]}';

test('in a Bundle the entry is named, and nothing of it is taken [IN-45]', async () => {
  const entries = (resource: string) =>
    `{"resourceType":"Bundle","type":"collection","entry":[{"resource":${GOOD}},{"resource":${resource}}]}`;
  const { rejected, resources } = await t.run([entries(PATIENT)]);
  assert.deepEqual(rejected, [
    { file: '0.json', entry: 2, resourceType: 'Patient', reason: `Patient.name.family ${TWICE}` },
  ]);
  assert.deepEqual(resources, {});
  const entry = await t.run([entries(`${GOOD},"fullUrl":"a","fullUrl":"b"`)]);
  assert.deepEqual(entry.rejected[0]?.reason, `Patient.fullUrl ${TWICE}`);
});

test('of NDJSON the line is rejected, and the others are taken [IN-14, IN-45]', async () => {
  const { rejected, resources } = await t.run([`${PATIENT}\n${GOOD}`]);
  assert.deepEqual(rejected, [{ file: '0.json', entry: 1, reason: `Patient.name.family ${TWICE}` }]);
  assert.deepEqual(resources, { Patient: 1 });
});

test('a single resource, and what stands around the entries of a Bundle [IN-45]', async () => {
  const envelope = '{"resourceType":"Bundle","type":"batch","type":"collection","entry":[]}';
  const { rejected } = await t.run([PATIENT, envelope]);
  const reason = (path: string) => `has ${path} twice in one JSON object. Send it once`;
  assert.deepEqual(
    rejected.map(({ entry, reason: given }) => [entry, given]),
    [
      [null, reason('name.family')],
      [null, reason('type')],
    ],
  );
});

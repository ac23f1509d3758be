import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { NO_TRANSLATIONS } from '../../terminology/maps/apply-map.ts';
import {
  collectionJson,
  entryJson,
  occurrenceText,
  summaryCode,
  timesOf,
  writeResource,
} from './collection.fhir.ts';

const observation = (elements: object) => ({ resourceType: 'Observation', id: 'a', ...elements });

describe('the summary beside a resource', () => {
  test('code: the LOINC one wherever it stands, else the first coding, else the text, else nothing [FETCH-12, FETCH-15]', () => {
    const local = { system: 'https://hospital.example', code: 'NA' };
    assert.deepEqual(summaryCode({ coding: [local, { system: 'http://loinc.org', code: '2951-2' }] }), {
      code: '2951-2',
      codeSystem: 'http://loinc.org',
    });
    assert.deepEqual(summaryCode({ coding: [{ display: 'x' }, local], text: 'Natrium' }), {
      code: 'NA',
      codeSystem: 'https://hospital.example',
    });
    assert.deepEqual(summaryCode({ coding: [{ code: 'NA' }] }), { code: 'NA', codeSystem: undefined });
    assert.deepEqual(summaryCode({ text: 'Natrium' }), { code: 'Natrium', codeSystem: undefined });
    assert.deepEqual(summaryCode(undefined), { code: '', codeSystem: undefined });
  });

  for (const [elements, zone, occurredAt, occurredOn] of [
    [{ effectiveDateTime: '2024-03-05T08:50:00+01:00' }, 'UTC', '2024-03-05T07:50:00.000Z', undefined],
    [{ effectiveDateTime: '2024-03-05' }, 'Africa/Lagos', '2024-03-04T23:00:00.000Z', '2024-03-05'],
    [{ effectiveDateTime: '2024-03' }, 'Africa/Lagos', undefined, '2024-03'],
    [{ effectiveDateTime: '2024' }, 'UTC', undefined, '2024'],
    [{ effectiveDateTime: '2024-03', issued: '2024-04-02T09:00:00Z' }, 'UTC', undefined, '2024-03'],
    [
      { effectivePeriod: { start: '2024-03-05T08:00:00Z', end: '2024-03-06' } },
      'UTC',
      '2024-03-05T08:00:00.000Z',
      undefined,
    ],
    [{ effectivePeriod: { start: '2024-03', end: '2024-04' } }, 'UTC', undefined, '2024-03'],
    [{ effectivePeriod: { end: '2024-03-06T08:00:00Z' } }, 'UTC', '2024-03-06T08:00:00.000Z', undefined],
    [{ effectiveInstant: '2024-03-05T08:00:00.123Z' }, 'UTC', '2024-03-05T08:00:00.123Z', undefined],
    [{ effectiveTiming: { event: ['2024-03-05T08:00:00Z'] } }, 'UTC', '2024-03-05T08:00:00.000Z', undefined],
    [{ issued: '2024-03-05T09:00:00Z' }, 'UTC', '2024-03-05T09:00:00.000Z', undefined],
    [{}, 'UTC', undefined, undefined],
  ] as const)
    test(`occurredAt and occurredOn of ${JSON.stringify(elements)} in ${zone} [FETCH-13]`, () =>
      assert.deepEqual(timesOf(occurrenceText(observation(elements)), zone), { occurredAt, occurredOn }));
});

test('a collection without resources has no entry [FETCH-5]', () => {
  assert.equal(collectionJson('http://x', []).join(''), '{"resourceType":"Bundle","type":"collection"}');
  assert.deepEqual(
    JSON.parse(collectionJson('http://x', [writeResource(observation({}), NO_TRANSLATIONS)]).join('')).entry,
    [{ fullUrl: 'http://x/fhir/Observation/a', resource: { resourceType: 'Observation', id: 'a' } }],
  );
});

test('one entry of an answer is found as it was written, whatever its strings have in them [FETCH-18]', () => {
  const others = ['}]},"orders":[{', '"', '\\', '\\"', '\\\\', 'é}', '/fhir/Observation/c","resource":{'];
  const resources = ['a', 'b', 'c'].map((id) =>
    observation({ id, note: others.map((text) => ({ text })), code: {} }),
  );
  const written = resources.map((resource) => writeResource(resource, NO_TRANSLATIONS));
  const answer = Buffer.from(collectionJson('https://x.example', written).join(''));
  for (const { id, json } of written) assert.equal(entryJson(answer, 'Observation', id), json);
  assert.equal(entryJson(answer, 'Observation', 'd'), undefined);
  assert.equal(entryJson(answer, 'Specimen', 'a'), undefined);
});

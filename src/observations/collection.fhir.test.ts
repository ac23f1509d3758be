import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { collectionJson, occurredAt, summaryCode, writeResource } from './collection.fhir.ts';

const observation = (elements: object) => ({ resourceType: 'Observation', id: 'a', ...elements });

describe('the summary beside a resource', () => {
  test('code: the LOINC one wherever it stands, else the first coding, else the text, else nothing', () => {
    const local = { system: 'https://hospital.example', code: 'NA' };
    assert.equal(summaryCode({ coding: [local, { system: 'http://loinc.org', code: '2951-2' }] }), '2951-2');
    assert.equal(summaryCode({ coding: [{ display: 'x' }, local], text: 'Natrium' }), 'NA');
    assert.equal(summaryCode({ text: 'Natrium' }), 'Natrium');
    assert.equal(summaryCode(undefined), '');
  });

  for (const [elements, zone, expected] of [
    [{ effectiveDateTime: '2024-03-05T08:50:00+01:00' }, 'UTC', '2024-03-05T07:50:00.000Z'],
    [{ effectiveDateTime: '2024-03-05' }, 'Africa/Lagos', '2024-03-04T23:00:00.000Z'],
    [{ effectiveDateTime: '2024' }, 'UTC', '2024-01-01T00:00:00.000Z'],
    [
      { effectivePeriod: { start: '2024-03-05T08:00:00Z', end: '2024-03-06' } },
      'UTC',
      '2024-03-05T08:00:00.000Z',
    ],
    [{ effectivePeriod: { end: '2024-03-06T08:00:00Z' } }, 'UTC', '2024-03-06T08:00:00.000Z'],
    [{ effectiveInstant: '2024-03-05T08:00:00.123Z' }, 'UTC', '2024-03-05T08:00:00.123Z'],
    [{ effectiveTiming: { event: ['2024-03-05T08:00:00Z'] } }, 'UTC', '2024-03-05T08:00:00.000Z'],
    [{ issued: '2024-03-05T09:00:00Z' }, 'UTC', '2024-03-05T09:00:00.000Z'],
    [{}, 'UTC', null],
  ] as const)
    test(`occurredAt of ${JSON.stringify(elements)} in ${zone}`, () =>
      assert.equal(occurredAt(observation(elements), zone), expected));
});

test('a collection without resources has no entry', () => {
  assert.equal(collectionJson('http://x', []), '{"resourceType":"Bundle","type":"collection"}');
  assert.deepEqual(JSON.parse(collectionJson('http://x', [writeResource(observation({}))])).entry, [
    { fullUrl: 'http://x/fhir/Observation/a', resource: { resourceType: 'Observation', id: 'a' } },
  ]);
});

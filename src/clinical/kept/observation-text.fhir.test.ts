import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cpuMs } from '../../../test-support/cpu-time.ts';
import { Decimal } from '../../fhir/json.ts';
import type { ObservationRecord } from '../resources/observation.fhir.ts';
import { fillVitalSet, slotCodings } from './fill-observation.fhir.ts';
import { keptObservation, OBSERVATION_MAPPING, PART, SLOT } from './observation-text.fhir.ts';

const ORGANISATION = '11111111-1111-4111-8111-111111111111';
const LOINC = 'http://loinc.org';
const local = (code: string) => ({ coding: [{ code, system: 'urn:example:local' }] });

const full: ObservationRecord = {
  id: '22222222-2222-4222-8222-222222222222',
  patientId: '33333333-3333-4333-8333-333333333333',
  kind: 'other',
  status: 'final',
  basedOn: [{ display: 'a paper form' }],
  code: local('NA'),
  effectiveType: 'dateTime',
  effectiveStart: '2024-03-05',
  valueType: 'CodeableConcept',
  valueConcept: local('POS'),
  components: [
    {
      code: local('NA-1'),
      valueType: 'Quantity',
      valueNumber: new Decimal('1.50'),
      valueUnit: 'g/L',
      interpretation: [local('h'), { text: 'high' }],
    },
  ],
};
const pulse: ObservationRecord = {
  id: full.id,
  patientId: full.patientId,
  kind: 'vital-sign',
  status: 'final',
  code: { coding: [{ code: '8867-4', system: LOINC }] },
  valueType: 'Quantity',
  valueNumber: 72,
  valueUnit: '/min',
  valueUnitCode: '/min',
  valueUnitSystem: 'http://unitsofmeasure.org',
  issued: '2024-03-05T08:00:00Z',
};

/** With words in place of the characters between its parts and around its slots. */
const readable = (record: ObservationRecord) =>
  keptObservation(record, ORGANISATION).replaceAll(PART, ' | ').replaceAll(SLOT, '~');

test('our identifier joins one of the source that has no system [HTTP-30]', () => {
  const identifier = [{ value: '17' }];
  const own = { system: `urn:uuid:${ORGANISATION}`, value: pulse.id };
  assert.ok(
    readable({ ...pulse, identifier }).includes(`"identifier":${JSON.stringify([...identifier, own])}`),
  );
});

/**
 * Texts that are kept in databases were written by this version of the mapping. If another text is right now, raise
 * `OBSERVATION_MAPPING` and write the new text and version here.
 */
test('the text of an observation changes with the version of the mapping only', () => {
  const texts = [full, pulse, { ...pulse, interpretation: [local('h')] }].map(readable);
  assert.equal(OBSERVATION_MAPPING, 8);
  assert.deepEqual(texts, [
    ' | "2024-03-05" | {"resourceType":"Observation","id":"22222222-2222-4222-8222-222222222222","identifier":[{"system":"urn:uuid:11111111-1111-4111-8111-111111111111","value":"22222222-2222-4222-8222-222222222222"}]~O{"display":"a paper form"}~,"status":"final"~L,"category":[{"coding":[{"system":"http://terminology.hl7.org/CodeSystem/observation-category","code":"laboratory","display":"Laboratory"}]}]~,"code":~C{"coding":[{"code":"NA","system":"urn:example:local"}]}~,"subject":{"reference":"Patient/33333333-3333-4333-8333-333333333333"},"effectiveDateTime":"2024-03-05","valueCodeableConcept":~V{"coding":[{"code":"POS","system":"urn:example:local"}]}~,"component":[{"code":~P{"coding":[{"code":"NA-1","system":"urn:example:local"}]}~,"valueQuantity":{"value":1.50,"unit":"g/L","system":"http://unitsofmeasure.org","code":"g/L"},"interpretation":[~V{"coding":[{"code":"h","system":"urn:example:local"}]}~,{"text":"high"}]}]}',
    '"code":"8867-4","codeSystem":"http://loinc.org" | "2024-03-05T08:00:00Z" | {"resourceType":"Observation","id":"22222222-2222-4222-8222-222222222222","identifier":[{"system":"urn:uuid:11111111-1111-4111-8111-111111111111","value":"22222222-2222-4222-8222-222222222222"}]~O~,"status":"final","code":{"coding":[{"code":"8867-4","system":"http://loinc.org"}]},"subject":{"reference":"Patient/33333333-3333-4333-8333-333333333333"},"issued":"2024-03-05T08:00:00Z","valueQuantity":{"value":72,"unit":"/min","system":"http://unitsofmeasure.org","code":"/min"},"_effectiveDateTime":{"extension":[{"url":"http://hl7.org/fhir/StructureDefinition/data-absent-reason","valueCode":"unknown"}]},"category":[{"coding":[{"system":"http://terminology.hl7.org/CodeSystem/observation-category","code":"vital-signs","display":"Vital Signs"}]}]}',
    '! | "2024-03-05T08:00:00Z" | {"resourceType":"Observation","id":"22222222-2222-4222-8222-222222222222","identifier":[{"system":"urn:uuid:11111111-1111-4111-8111-111111111111","value":"22222222-2222-4222-8222-222222222222"}]~O~,"status":"final","code":{"coding":[{"code":"8867-4","system":"http://loinc.org"}]},"subject":{"reference":"Patient/33333333-3333-4333-8333-333333333333"},"issued":"2024-03-05T08:00:00Z","valueQuantity":{"value":72,"unit":"/min","system":"http://unitsofmeasure.org","code":"/min"},"interpretation":[~V{"coding":[{"code":"h","system":"urn:example:local"}]}~]}',
  ]);
});

test('the summary says the month of a vital sign that only has a note of it [FETCH-13]', () => {
  const month: ObservationRecord = { ...pulse, effectiveType: 'dateTime', effectiveStart: '2024-03' };
  const [, summary, body = ''] = readable(month).split(' | ');
  assert.equal(summary, '"2024-03"');
  assert.deepEqual(JSON.parse(body.replaceAll(/~[^~]*~/g, '')).note, [{ text: 'Time reported as 2024-03' }]);
});

test('a text whose last slot has no end is refused, not read for ever', () => {
  const text = `a${PART}""${PART}{"x":1${SLOT}O`;
  assert.throws(() => slotCodings({ text }), SyntaxError);
});

test('a vital set of very many pressures and other signs is filled in linear time [FETCH-24]', async () => {
  const kept = (record: ObservationRecord, id: string) => ({
    id,
    orderId: undefined,
    text: keptObservation({ ...record, id }, ORGANISATION),
  });
  const setOf = (pressures: number) => [
    ...Array.from({ length: pressures }, (_, index) =>
      ['8480-6', '8462-4'].map((code) =>
        kept(
          { ...pulse, code: { coding: [{ code, system: LOINC }] }, bodySite: { text: `${index}` } },
          `${code}-${index}`,
        ),
      ),
    ).flat(),
    ...Array.from({ length: 5 * pressures }, (_, index) => kept(pulse, `pulse-${index}`)),
  ];
  const spent = async (pressures: number) => {
    const set = setOf(pressures);
    return cpuMs(() => assert.equal(fillVitalSet(set, new Map()).length, 6 * pressures));
  };
  await spent(1_000);
  const [one, four] = [await spent(1_000), await spent(4_000)];
  assert.ok(four < 10 * one, `${one} and ${four}`);
});

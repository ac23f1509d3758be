import assert from 'node:assert/strict';
import { test } from 'node:test';
import { definitionsIn } from '../../test-support/fhir/definitions.ts';
import { fhirFaults } from '../../test-support/fhir/fhir-validator.ts';
import type { EncounterRow } from '../clinical/resources/encounter.fhir.ts';
import { ACT_CODE_SYSTEM, ENCOUNTER_CLASS_DISPLAY } from '../fhir/act-code.ts';
import { Decimal, parseFhirJson } from '../fhir/json.ts';
import { ENCOUNTER_MAPPING, encounterElements, encounterJson as resourceJson } from './encounter.fhir.ts';

type EncounterRecord = EncounterRow & { version: number; lastUpdated: string };

interface Concept {
  code: string;
  display?: string;
  concept?: Concept[];
}

const SNOMED = 'http://snomed.info/sct';

const ORGANISATION = '11111111-1111-4111-8111-111111111111';
const encounterJson = (record: EncounterRecord) =>
  resourceJson({ ...record, elements: encounterElements(record, ORGANISATION) });

const full: EncounterRecord = {
  id: '22222222-2222-4222-8222-222222222222',
  patientId: '33333333-3333-4333-8333-333333333333',
  status: 'finished',
  classCode: 'IMP',
  start: '2024-01-31T23:15:00+01:00',
  end: '2024-02-03T10:00:00+01:00',
  identifier: [{ use: 'official', value: 'V-17', system: 'urn:example:visits' }],
  type: [{ text: 'Admission "planned"', coding: [{ code: '32485007', system: SNOMED }] }],
  priority: { coding: [{ code: 'R', system: 'http://terminology.hl7.org/CodeSystem/v3-ActPriority' }] },
  reasonCode: [{ text: 'Fall' }],
  dischargeDisposition: {
    coding: [{ code: 'home', system: 'http://terminology.hl7.org/CodeSystem/discharge-disposition' }],
  },
  serviceProviderId: '44444444-4444-4444-8444-444444444444',
  serviceProviderDisplay: 'St "Mary"',
  participants: [
    {
      practitionerId: '55555555-5555-4555-8555-555555555555',
      display: 'Dr. Ada Öz',
      type: [
        { coding: [{ code: 'ATND', system: 'http://terminology.hl7.org/CodeSystem/v3-ParticipationType' }] },
      ],
      periodStart: '2024-01-31T23:15:00+01:00',
    },
    { display: 'Ward nurse' },
    {},
  ],
  locations: [
    {
      locationId: '66666666-6666-4666-8666-666666666666',
      display: 'Ward 3',
      status: 'completed',
      periodStart: '2024-01-31',
      periodEnd: '2024-02-03',
    },
    { status: 'active' },
  ],
  version: 4,
  lastUpdated: '2024-02-03T09:00:01.123456Z',
};

/** The same encounter without what its source did not give. */
const without = (...names: (keyof EncounterRecord)[]) =>
  Object.fromEntries(
    Object.entries(full).filter(([name]) => !(names as string[]).includes(name)),
  ) as EncounterRecord;

test('every element of an encounter is expressed [ENC-3, ENC-4, ENC-5, ENC-6, ENC-7, ENC-9]', () => {
  assert.deepEqual(JSON.parse(encounterJson(full)), {
    resourceType: 'Encounter',
    id: '22222222-2222-4222-8222-222222222222',
    meta: { versionId: '4', lastUpdated: '2024-02-03T09:00:01.123456Z' },
    identifier: [{ use: 'official', system: 'urn:example:visits', value: 'V-17' }],
    status: 'finished',
    class: {
      system: 'http://terminology.hl7.org/CodeSystem/v3-ActCode',
      code: 'IMP',
      display: 'inpatient encounter',
    },
    type: [{ coding: [{ system: SNOMED, code: '32485007' }], text: 'Admission "planned"' }],
    priority: { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/v3-ActPriority', code: 'R' }] },
    subject: { reference: 'Patient/33333333-3333-4333-8333-333333333333' },
    participant: [
      {
        type: [
          {
            coding: [{ system: 'http://terminology.hl7.org/CodeSystem/v3-ParticipationType', code: 'ATND' }],
          },
        ],
        period: { start: '2024-01-31T23:15:00+01:00' },
        individual: {
          reference: 'Practitioner/55555555-5555-4555-8555-555555555555',
          display: 'Dr. Ada Öz',
        },
      },
      { individual: { display: 'Ward nurse' } },
    ],
    period: { start: '2024-01-31T23:15:00+01:00', end: '2024-02-03T10:00:00+01:00' },
    reasonCode: [{ text: 'Fall' }],
    hospitalization: {
      dischargeDisposition: {
        coding: [{ system: 'http://terminology.hl7.org/CodeSystem/discharge-disposition', code: 'home' }],
      },
    },
    location: [
      {
        location: { reference: 'Location/66666666-6666-4666-8666-666666666666', display: 'Ward 3' },
        status: 'completed',
        period: { start: '2024-01-31', end: '2024-02-03' },
      },
    ],
    serviceProvider: {
      reference: 'Organization/44444444-4444-4444-8444-444444444444',
      display: 'St "Mary"',
    },
  });
});

test('what is expressed conforms to FHIR R4 [HTTP-30]', () => {
  const bare = { ...without('identifier', 'type', 'start', 'end'), participants: [], locations: [] };
  for (const status of ['planned', 'in-progress', 'finished', 'cancelled', 'entered-in-error'] as const)
    for (const record of [full, bare, without('end')])
      assert.deepEqual(fhirFaults(JSON.parse(encounterJson({ ...record, status }))), []);
});

test("class displays are HL7's own [ENC-4]", () => {
  const systems = definitionsIn<{ url: string; concept: Concept[] }>('v3-codesystems');
  const official = new Map<string, string | undefined>();
  const collect = ({ code, display, concept = [] }: Concept): void => {
    official.set(code, display);
    concept.forEach(collect);
  };
  systems.find(({ url }) => url === ACT_CODE_SYSTEM)?.concept.forEach(collect);
  for (const [code, display] of Object.entries(ENCOUNTER_CLASS_DISPLAY))
    assert.equal(display, official.get(code), code);
});

test("displays of HL7's codes are the official ones, and decimals keep their digits [HTTP-30]", () => {
  const hl7 = 'http://terminology.hl7.org/CodeSystem';
  const coded = (system: string, code: string, display: string) => ({ coding: [{ system, code, display }] });
  const of = (emergency: string, attender: string, admitted: string, home: string): EncounterRecord => ({
    ...full,
    length: { unit: 'd', value: new Decimal('4.030') },
    type: [coded(SNOMED, '32485007', 'stay')],
    priority: coded(`${hl7}/v3-ActPriority`, 'EM', emergency),
    participants: [{ display: 'Dr. Ada', type: [coded(`${hl7}/v3-ParticipationType`, 'ATND', attender)] }],
    hospitalization: { admitSource: coded(`${hl7}/admit-source`, 'gp', admitted) },
    dischargeDisposition: coded(`${hl7}/discharge-disposition`, 'home', home),
  });
  const changed = encounterJson(of('Emergency!', 'Attending', 'GP', 'at home'));
  const official = encounterJson(of('emergency', 'attender', 'General Practitioner referral', 'Home'));
  assert.deepEqual(parseFhirJson(changed), parseFhirJson(official));
  assert.match(changed, /"value":4\.030}/);
});

test('what is not known is left out, and an open visit has no period.end [ENC-7]', () => {
  const bare: EncounterRecord = {
    ...without(
      'end',
      'identifier',
      'type',
      'priority',
      'reasonCode',
      'dischargeDisposition',
      'serviceProviderId',
    ),
    status: 'in-progress',
    classCode: 'X-LOCAL',
    serviceProviderDisplay: 'not of the tenant',
    participants: [],
    locations: [],
  };
  assert.deepEqual(JSON.parse(encounterJson(bare)), {
    resourceType: 'Encounter',
    id: full.id,
    meta: { versionId: '4', lastUpdated: '2024-02-03T09:00:01.123456Z' },
    identifier: [{ system: 'urn:uuid:11111111-1111-4111-8111-111111111111', value: full.id }],
    status: 'in-progress',
    class: { system: 'http://terminology.hl7.org/CodeSystem/v3-ActCode', code: 'X-LOCAL' },
    subject: { reference: 'Patient/33333333-3333-4333-8333-333333333333' },
    period: { start: '2024-01-31T23:15:00+01:00' },
    serviceProvider: { reference: 'Organization/11111111-1111-4111-8111-111111111111' },
  });
});

test('our identifier joins those of the source when none of them says both system and value [HTTP-30]', () => {
  const own = { system: `urn:uuid:${ORGANISATION}`, value: full.id };
  const identifiersOf = (given: object[]) =>
    JSON.parse(encounterJson({ ...full, identifier: given })).identifier as unknown;
  const loose = [{ value: 'V-17' }, { system: 'urn:example:visits' }];
  assert.deepEqual(identifiersOf(loose), [...loose, own]);
  const whole = [...loose, { system: 'urn:example:visits', value: 'V-17' }];
  assert.deepEqual(identifiersOf(whole), whole);
});

test('a visit that is finished without an end says that the end is not known [ENC-8]', () => {
  const { period } = JSON.parse(encounterJson(without('end')));
  assert.deepEqual(period, {
    start: '2024-01-31T23:15:00+01:00',
    _end: {
      extension: [
        { url: 'http://hl7.org/fhir/StructureDefinition/data-absent-reason', valueCode: 'unknown' },
      ],
    },
  });
});

test('an encounter without any known time has no period', () => {
  const { period } = JSON.parse(encounterJson(without('start', 'end')));
  assert.equal(period, undefined);
});

/**
 * Texts that are kept in databases were written by this version of the mapping. If another text is right now, raise
 * `ENCOUNTER_MAPPING` and write the new text and version here.
 */
test('the text of an encounter changes with the version of the mapping only', () => {
  const everything = {
    ...full,
    serviceType: { text: 'Cardiology' },
    length: { unit: 'd', value: new Decimal('4.030') },
    partOfId: '77777777-7777-4777-8777-777777777777',
    partOfDisplay: 'Stay',
    hospitalization: { origin: { display: 'Hill' }, admitSource: { text: 'ward' } },
  };
  const openEnded = { ...without('end', 'identifier'), participants: [], locations: [] };
  const texts = [everything, openEnded].map((record) => encounterElements(record, ORGANISATION));
  assert.equal(ENCOUNTER_MAPPING, 4);
  assert.equal(
    texts[0],
    '"identifier":[{"use":"official","value":"V-17","system":"urn:example:visits"}],"status":"finished","class":{"system":"http://terminology.hl7.org/CodeSystem/v3-ActCode","code":"IMP","display":"inpatient encounter"},"type":[{"text":"Admission \\"planned\\"","coding":[{"code":"32485007","system":"http://snomed.info/sct"}]}],"serviceType":{"text":"Cardiology"},"priority":{"coding":[{"code":"R","system":"http://terminology.hl7.org/CodeSystem/v3-ActPriority"}]},"subject":{"reference":"Patient/33333333-3333-4333-8333-333333333333"},"participant":[{"type":[{"coding":[{"code":"ATND","system":"http://terminology.hl7.org/CodeSystem/v3-ParticipationType"}]}],"period":{"start":"2024-01-31T23:15:00+01:00"},"individual":{"reference":"Practitioner/55555555-5555-4555-8555-555555555555","display":"Dr. Ada Öz"}},{"individual":{"display":"Ward nurse"}}],"period":{"start":"2024-01-31T23:15:00+01:00","end":"2024-02-03T10:00:00+01:00"},"length":{"unit":"d","value":4.030},"reasonCode":[{"text":"Fall"}],"hospitalization":{"origin":{"display":"Hill"},"admitSource":{"text":"ward"},"dischargeDisposition":{"coding":[{"code":"home","system":"http://terminology.hl7.org/CodeSystem/discharge-disposition"}]}},"location":[{"location":{"reference":"Location/66666666-6666-4666-8666-666666666666","display":"Ward 3"},"status":"completed","period":{"start":"2024-01-31","end":"2024-02-03"}}],"serviceProvider":{"reference":"Organization/44444444-4444-4444-8444-444444444444","display":"St \\"Mary\\""},"partOf":{"reference":"Encounter/77777777-7777-4777-8777-777777777777","display":"Stay"}}',
  );
  assert.equal(
    texts[1],
    '"identifier":[{"system":"urn:uuid:11111111-1111-4111-8111-111111111111","value":"22222222-2222-4222-8222-222222222222"}],"status":"finished","class":{"system":"http://terminology.hl7.org/CodeSystem/v3-ActCode","code":"IMP","display":"inpatient encounter"},"type":[{"text":"Admission \\"planned\\"","coding":[{"code":"32485007","system":"http://snomed.info/sct"}]}],"priority":{"coding":[{"code":"R","system":"http://terminology.hl7.org/CodeSystem/v3-ActPriority"}]},"subject":{"reference":"Patient/33333333-3333-4333-8333-333333333333"},"period":{"start":"2024-01-31T23:15:00+01:00","_end":{"extension":[{"url":"http://hl7.org/fhir/StructureDefinition/data-absent-reason","valueCode":"unknown"}]}},"reasonCode":[{"text":"Fall"}],"hospitalization":{"dischargeDisposition":{"coding":[{"code":"home","system":"http://terminology.hl7.org/CodeSystem/discharge-disposition"}]}},"serviceProvider":{"reference":"Organization/44444444-4444-4444-8444-444444444444","display":"St \\"Mary\\""}}',
  );
});

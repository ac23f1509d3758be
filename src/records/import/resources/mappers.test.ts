import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RecordRow } from '../../../clinical/description/describe.ts';
import type { ReferencedRecord } from '../../../clinical/description/read-context.ts';
import { ENCOUNTER } from '../../../clinical/resources/encounter.fhir.ts';
import { LOCATION } from '../../../clinical/resources/location.fhir.ts';
import { ORGANIZATION } from '../../../clinical/resources/organization.fhir.ts';
import { PATIENT } from '../../../clinical/resources/patient.fhir.ts';
import { PRACTITIONER } from '../../../clinical/resources/practitioner.fhir.ts';
import { parseFhirJson } from '../../../fhir/json.ts';
import { ElementReader } from '../../../fhir/reading/element-reader.ts';
import { type JsonObject, ResourceRejected } from '../../../fhir/reading/json-resource.ts';
import type { MapContext } from '../map/resource-importer.ts';

const ID = '0a1b2c3d-0000-4000-8000-000000000001';
const TARGET = '0a1b2c3d-0000-4000-8000-000000000002';

/** A context in which `Type/t` is there, and nothing else. */
function context(notKept: string[] = []): MapContext {
  const target = (reader: ElementReader, types: readonly string[]): ReferencedRecord | undefined => {
    const [type = ''] = (reader.string('reference') ?? '').split('/');
    return types.includes(type) ? { type, id: TARGET } : undefined;
  };
  const value = (reader: ElementReader, types: readonly string[]) => ({
    target: target(reader, types),
    display: reader.string('display'),
  });
  return {
    id: ID,
    scope: { organisationId: ID, facilityId: ID, timeZone: 'Africa/Lagos' },
    hasOwnId: false,
    requiredReference: (parent, name, types) =>
      target(parent.required(name, parent.child(name)), types) ?? parent.fail(name, 'is not there'),
    reference: (parent, name, types) => {
      const reader = parent.child(name);
      return reader === undefined ? undefined : value(reader, types);
    },
    references: (parent, name, types) => parent.children(name).map((reader) => value(reader, types)),
    notKept: (path) => notKept.push(path),
  };
}

type Mapper = (reader: ElementReader, context: MapContext) => RecordRow;

function map(mapper: Mapper, json: string | object, notKept?: string[]) {
  const text = typeof json === 'string' ? json : JSON.stringify(json);
  const reader = ElementReader.of(parseFhirJson(text) as JsonObject, 'Africa/Lagos');
  const row = mapper(reader, context(notKept));
  // What is written: JSON, without what is undefined.
  return { row: JSON.parse(JSON.stringify(row)) as RecordRow, unread: reader.unread() };
}

const coded = (code: string) => ({ coding: [{ system: 'urn:s', code }], text: code });

const VISIT = {
  resourceType: 'Encounter',
  id: 'e1',
  status: 'finished',
  class: { system: 'http://terminology.hl7.org/CodeSystem/v3-ActCode', code: 'IMP', display: 'inpatient' },
  subject: { reference: 'Patient/t' },
};

test('Encounter, every element that the model has [IN-5]', () => {
  const { row, unread } = map(ENCOUNTER.read, {
    ...VISIT,
    identifier: [
      { use: 'official', system: 'urn:v', value: '7' },
      { system: 'urn:v', value: '7' },
      { value: 'no system' },
    ],
    type: [coded('t')],
    priority: coded('p'),
    participant: [
      {
        type: [coded('ATND')],
        individual: { reference: 'Practitioner/t', display: 'Dr. A' },
        period: { start: '2024-01-01', end: '2024-01-02' },
      },
      { individual: { reference: 'RelatedPerson/9', display: 'A friend' } },
    ],
    period: { start: '2024-01-01T08:00:00+01:00', end: '2024-01-03' },
    reasonCode: [coded('r')],
    hospitalization: { dischargeDisposition: coded('home') },
    location: [
      {
        location: { reference: 'Location/t', display: 'Ward' },
        status: 'completed',
        period: { start: '2024' },
      },
    ],
    serviceProvider: { reference: 'Organization/t', display: 'Hospital' },
  });
  assert.deepEqual(unread, []);
  assert.deepEqual(row, {
    id: ID,
    values: {
      patient_id: TARGET,
      status: 'finished',
      class_code: 'IMP',
      class_display: 'inpatient',
      period_start: '2024-01-01T07:00:00.000Z',
      // The end of that day in Lagos, which is an hour ahead of UTC.
      period_end: '2024-01-03T23:00:00.000Z',
      period_start_source: '2024-01-01T08:00:00+01:00',
      period_end_source: '2024-01-03',
      sort_start: '2024-01-01T07:00:00.000Z',
      identifier: [
        { use: 'official', system: 'urn:v', value: '7' },
        { system: 'urn:v', value: '7' },
        { value: 'no system' },
      ],
      type: [coded('t')],
      priority: coded('p'),
      reason_code: [coded('r')],
      discharge_disposition: coded('home'),
      service_provider_id: TARGET,
      service_provider_display: 'Hospital',
    },
    children: {
      encounter_participant: [
        {
          position: 0,
          practitioner_id: TARGET,
          display: 'Dr. A',
          type: [coded('ATND')],
          period_start: '2024-01-01',
          period_end: '2024-01-02',
        },
        { position: 1, display: 'A friend' },
      ],
      encounter_location: [
        { position: 0, location_id: TARGET, display: 'Ward', status: 'completed', period_start: '2024' },
      ],
      encounter_identifier: [{ position: 0, system: 'urn:v', value: '7' }],
    },
  });
});

test('Encounter, the least that it may have', () => {
  const { row } = map(ENCOUNTER.read, VISIT);
  assert.deepEqual(row.values, {
    patient_id: TARGET,
    status: 'finished',
    class_code: 'IMP',
    class_display: 'inpatient',
    sort_start: '-infinity',
  });
});

test('Encounter periods are instants in the time zone of the facility', () => {
  const instants = (period: object) => {
    const { values } = map(ENCOUNTER.read, { ...VISIT, period }).row;
    return [values.period_start, values.period_end];
  };
  assert.deepEqual(instants({ start: '2024-01-01' }), ['2023-12-31T23:00:00.000Z', undefined]);
  assert.deepEqual(instants({ start: '2024', end: '2024' }), [
    '2023-12-31T23:00:00.000Z',
    '2024-12-31T23:00:00.000Z',
  ]);
  // A date-time is the instant itself, not the second that it stands for.
  assert.deepEqual(instants({ end: '2024-01-01T00:00:00Z' }), [undefined, '2024-01-01T00:00:00.000Z']);
  assert.throws(
    () => instants({ start: '2024-01-02', end: '2024-01-01' }),
    /Encounter.period ends before it starts/,
  );
});

test('Encounter statuses: the five as they are, those of a visit under way as in-progress, no other [ENC-3, ENC-36]', () => {
  for (const status of ['planned', 'in-progress', 'finished', 'cancelled', 'entered-in-error']) {
    const notKept: string[] = [];
    assert.equal(map(ENCOUNTER.read, { ...VISIT, status }, notKept).row.values.status, status);
    assert.deepEqual(notKept, []);
  }
  for (const status of ['arrived', 'triaged', 'onleave']) {
    const notKept: string[] = [];
    assert.equal(map(ENCOUNTER.read, { ...VISIT, status }, notKept).row.values.status, 'in-progress');
    assert.deepEqual(notKept, ['Encounter.status']);
  }
  for (const status of ['unknown', 'completed', 'Finished', undefined])
    assert.throws(() => map(ENCOUNTER.read, { ...VISIT, status }), /^ResourceRejected: Encounter\.status is/);
});

test('the end of an Encounter that is under way is not kept: searches find it on every later day [ENC-7, ENC-17]', () => {
  const period = { start: '2024-01-01', end: '2024-01-02' };
  for (const [status, isKept] of [
    ['in-progress', false],
    ['onleave', false],
    ['planned', true],
    ['finished', true],
    ['cancelled', true],
  ] as const) {
    const notKept: string[] = [];
    const { values } = map(ENCOUNTER.read, { ...VISIT, status, period }, notKept).row;
    assert.equal(values.period_start_source, '2024-01-01');
    assert.equal(values.period_end_source, isKept ? '2024-01-02' : undefined, status);
    assert.equal(values.period_end === undefined, !isKept);
    assert.equal(notKept.includes('Encounter.period.end'), !isKept);
  }
});

test('Encounter class is v3 ActCode, whose system may be left out of a known code [ENC-4]', () => {
  const classOf = (value: object) => map(ENCOUNTER.read, { ...VISIT, class: value }).row.values.class_code;
  assert.equal(classOf({ code: 'EMER' }), 'EMER');
  assert.equal(classOf({ ...VISIT.class, code: 'OBSENC' }), 'OBSENC');
  const refusals: [object, RegExp][] = [
    [{ code: 'outpatient' }, /class\.system is missing, and the code is not one of AMB, EMER/],
    [{ system: 'urn:local', code: 'AMB' }, /class\.system is not http:\/\/terminology/],
    [{ system: VISIT.class.system }, /class\.code is missing/],
  ];
  for (const [value, reason] of refusals) assert.throws(() => classOf(value), reason);
  assert.throws(() => map(ENCOUNTER.read, { ...VISIT, class: undefined }), /Encounter\.class is missing/);
});

test('Patient, every element that the model has [IN-5]', () => {
  const { row, unread } = map(PATIENT.read, {
    resourceType: 'Patient',
    id: 'p1',
    active: true,
    identifier: [
      { use: 'usual', type: coded('MR'), system: 'urn:n', value: 'Á-7', period: { start: '2020' } },
    ],
    name: [
      {
        use: 'official',
        text: 'Zoë Öz',
        family: 'Öz',
        given: ['Zoë', 'Mai-Lin'],
        prefix: ['Dr.'],
        suffix: ['Jr.'],
        period: { end: '2021' },
      },
      { use: 'maiden', family: 'Au' },
    ],
    telecom: [
      { system: 'phone', value: '+234 (80) 1', use: 'mobile', rank: 1 },
      { system: 'email', value: 'Zoe@Example.org' },
    ],
    gender: 'female',
    birthDate: '1980-07',
    deceasedDateTime: '2021-01-02T03:04:05+01:00',
    address: [
      {
        use: 'home',
        type: 'both',
        text: 'x',
        line: ['1', '2'],
        city: 'c',
        district: 'd',
        state: 's',
        postalCode: '9',
        country: 'NG',
      },
    ],
    maritalStatus: coded('M'),
    multipleBirthInteger: 2,
    communication: [{ language: coded('en'), preferred: true }],
    contact: [
      {
        relationship: [coded('N')],
        name: { family: 'Öz' },
        telecom: [{ system: 'phone', value: '5' }],
        gender: 'male',
      },
    ],
  });
  assert.deepEqual(unread, []);
  assert.deepEqual(row, {
    id: ID,
    values: {
      active: true,
      gender: 'female',
      birth_date: '1980-07',
      deceased_date_time: '2021-01-02T03:04:05+01:00',
      marital_status: coded('M'),
      multiple_birth_integer: 2,
      communication: [{ language: coded('en'), preferred: true }],
      contact: [
        {
          relationship: [coded('N')],
          name: { family: 'Öz' },
          telecom: [{ system: 'phone', value: '5' }],
          gender: 'male',
        },
      ],
      sort_name: 'oz zoe mai-lin',
    },
    children: {
      patient_name: [
        {
          position: 0,
          use: 'official',
          text: 'Zoë Öz',
          family: 'Öz',
          given: ['Zoë', 'Mai-Lin'],
          prefix: ['Dr.'],
          suffix: ['Jr.'],
          period_end: '2021',
        },
        { position: 1, use: 'maiden', family: 'Au' },
      ],
      patient_identifier: [
        { position: 0, use: 'usual', type: coded('MR'), system: 'urn:n', value: 'Á-7', period_start: '2020' },
      ],
      patient_telecom: [
        { position: 0, system: 'phone', value: '+234 (80) 1', use: 'mobile', rank: 1 },
        { position: 1, system: 'email', value: 'Zoe@Example.org' },
      ],
      patient_address: [
        {
          position: 0,
          use: 'home',
          type: 'both',
          text: 'x',
          line: ['1', '2'],
          city: 'c',
          district: 'd',
          state: 's',
          country: 'NG',
          postal_code: '9',
        },
      ],
      patient_search_key: [
        { kind: 'email', key: 'zoe@example.org' },
        { kind: 'identifier', key: 'a-7' },
        { kind: 'name', key: 'au' },
        { kind: 'name', key: 'lin' },
        { kind: 'name', key: 'mai' },
        { kind: 'name', key: 'mai-lin' },
        { kind: 'name', key: 'oz' },
        { kind: 'name', key: 'zoe' },
        { kind: 'name', key: 'zoe oz' },
        { kind: 'phone', key: '234801' },
      ],
    },
  });
});

test('Patient: false is kept, two kinds of deceased are not', () => {
  const { row } = map(PATIENT.read, { resourceType: 'Patient', active: false, deceasedBoolean: false });
  assert.deepEqual(row.values, { active: false, deceased_boolean: false, sort_name: '' });
  assert.throws(
    () => map(PATIENT.read, { resourceType: 'Patient', deceasedBoolean: true, deceasedDateTime: '2020' }),
    ResourceRejected,
  );
  assert.throws(
    () => map(PATIENT.read, { resourceType: 'Patient', communication: [{ preferred: true }] }),
    /Patient\.communication\.language is missing/,
  );
});

test('Practitioner, Organization and Location [IN-5]', () => {
  const identifier = [{ system: 'urn:n', value: '1' }];
  const telecom = [{ system: 'phone', value: '5' }];
  const where = { city: 'Lagos' };
  const doctor = map(PRACTITIONER.read, {
    resourceType: 'Practitioner',
    active: true,
    identifier,
    name: [{ family: 'Old' }, { use: 'official', family: 'Öz', given: ['Ada'], prefix: ['Dr.'] }],
    telecom,
    address: [where],
    gender: 'other',
    birthDate: '1970',
    qualification: [
      { identifier, code: coded('MD'), period: { start: '1999' }, issuer: { display: 'Board' } },
    ],
  });
  assert.deepEqual(doctor.unread, ['Practitioner.qualification.issuer']);
  assert.deepEqual(doctor.row, {
    id: ID,
    values: {
      active: true,
      gender: 'other',
      birth_date: '1970',
      display: 'Dr. Ada Öz',
      name: [{ family: 'Old' }, { use: 'official', family: 'Öz', given: ['Ada'], prefix: ['Dr.'] }],
      telecom,
      address: [where],
      qualification: [{ identifier, code: coded('MD'), period: { start: '1999' } }],
    },
    children: { directory_identifier: [{ position: 0, system: 'urn:n', value: '1' }] },
  });

  const organization = map(ORGANIZATION.read, {
    resourceType: 'Organization',
    active: true,
    identifier,
    type: [coded('prov')],
    name: 'Hospital',
    telecom,
    address: [where],
    alias: ['H'],
  });
  assert.deepEqual(organization.unread, ['Organization.alias']);
  assert.deepEqual(organization.row, {
    id: ID,
    values: { active: true, name: 'Hospital', type: [coded('prov')], telecom, address: [where] },
    children: { directory_identifier: [{ position: 0, system: 'urn:n', value: '1' }] },
  });

  const notKept: string[] = [];
  const location = map(
    LOCATION.read,
    `{"resourceType":"Location","status":"active","name":"Ward","address":{"city":"Lagos"},
      "position":{"longitude":3.40,"latitude":6.450},
      "managingOrganization":{"reference":"Organization/t","display":"Hospital"}}`,
    notKept,
  );
  assert.deepEqual(location.unread, []);
  assert.deepEqual(notKept, ['Location.managingOrganization.display']);
  assert.deepEqual(location.row.values, {
    status: 'active',
    name: 'Ward',
    address: where,
    longitude: 3.4,
    latitude: 6.45,
    managing_organisation_id: TARGET,
  });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { coded, ID, map, TARGET } from '../../../../test-support/records/mapped-rows.ts';
import { resourceObject } from '../../../clinical/description/describe.ts';
import { LOCATION } from '../../../clinical/resources/location.fhir.ts';
import { ORGANIZATION } from '../../../clinical/resources/organization.fhir.ts';
import { PATIENT } from '../../../clinical/resources/patient.fhir.ts';
import { PRACTITIONER } from '../../../clinical/resources/practitioner.fhir.ts';
import { ResourceRejected } from '../../../fhir/reading/json-resource.ts';

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

test('a contact of whom only the relationship is kept is counted, because R4 does not let it go out [IN-7]', () => {
  const notKept: string[] = [];
  const relationship = [coded('N')];
  const contact = [
    { relationship, gender: 'male' },
    { relationship, name: { family: 'Öz' } },
  ];
  map(PATIENT.read, { resourceType: 'Patient', contact }, notKept);
  assert.deepEqual(notKept, ['Patient.contact']);
});

test('a qualification without a code is counted and not sent, because R4 asks for one [IN-7, HTTP-30]', () => {
  const notKept: string[] = [];
  const named = { code: coded('MD'), period: { start: '2001' } };
  const resource = {
    resourceType: 'Practitioner',
    id: 'd1',
    qualification: [{ period: { end: '2001' } }, named],
  };
  const { row } = map(PRACTITIONER.read, resource, notKept);
  assert.deepEqual(notKept, ['Practitioner.qualification']);
  const context = { organisationId: ID, translate: <Concept>(concept: Concept) => concept };
  const sent = resourceObject(PRACTITIONER, { id: ID, ...row.values }, context);
  assert.deepEqual(sent.qualification, [named]);
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

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fhirFaults } from '../../test-support/fhir/fhir-validator.ts';
import { keptPatient, patientRecord } from './kept/patient-text.fhir.ts';
import { patientResource } from './patient.fhir.ts';
import type { PatientRecord } from './patient.ts';

const bare = patientRecord({
  organisationId: '11111111-1111-4111-8111-111111111111',
  id: '22222222-2222-4222-8222-222222222222',
  text: keptPatient({}),
  assignedIdentifiers: [],
  links: [],
  replacedBy: null,
  replaces: [],
  refusedPurposes: ['RESEARCH'],
  version: 2,
  lastUpdated: '2024-02-03T09:00:01.123456Z',
});

const ours = { system: 'urn:uuid:11111111-1111-4111-8111-111111111111', value: bare.id };

const full: PatientRecord = {
  ...bare,
  active: true,
  gender: 'female',
  birthDate: '1980-02',
  deceasedBoolean: true,
  deceasedDateTime: '2023-12-24',
  maritalStatus: {
    coding: [{ system: 'http://terminology.hl7.org/CodeSystem/v3-MaritalStatus', code: 'M' }],
  },
  multipleBirthBoolean: true,
  multipleBirthInteger: 2,
  communication: [{ language: { coding: [{ system: 'urn:ietf:bcp:47', code: 'de' }] }, preferred: true }],
  contacts: [
    {
      relationship: [{ coding: [{ system: 'http://terminology.hl7.org/CodeSystem/v2-0131', code: 'N' }] }],
      name: { family: 'Öz' },
    },
  ],
  names: [
    { use: 'official', family: 'Öz', given: ['Ada', 'Mary'], prefix: ['Dr.'], period: { start: '2001' } },
    { use: 'maiden', family: 'Smith' },
  ],
  identifiers: [
    {
      use: 'usual',
      type: { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/v2-0203', code: 'MR' }] },
      system: 'urn:example:mrn',
      value: '0042',
    },
  ],
  telecoms: [{ system: 'phone', value: '+49 30 1234', use: 'home', rank: 1 }, { value: 'pigeon' }],
  addresses: [{ use: 'home', line: ['1 High Street'], city: 'Berlin', postalCode: '10115', country: 'DE' }],
};

test("displays of HL7's codes are the official ones [HTTP-30]", () => {
  const hl7 = 'http://terminology.hl7.org/CodeSystem';
  const of = (married: string, record: string, kin: string): PatientRecord => ({
    ...bare,
    maritalStatus: {
      coding: [{ system: `${hl7}/v3-MaritalStatus`, code: 'M', display: married }],
      text: 'M',
    },
    identifiers: [
      {
        type: { coding: [{ system: `${hl7}/v2-0203`, code: 'MR', display: record }] },
        system: 'urn:example:mrn',
        value: '0042',
      },
    ],
    contacts: [
      {
        relationship: [{ coding: [{ system: `${hl7}/v2-0131`, code: 'N', display: kin }] }],
        name: { family: 'Öz' },
      },
    ],
  });
  assert.deepEqual(
    patientResource(of('M', 'Medical Record Number', 'Kin')),
    patientResource(of('Married', 'Medical record number', 'Next-of-Kin')),
  );
});

test('every element of a patient is expressed, and nothing of the privacy setting [PAT-7]', () => {
  const resource = patientResource(full);
  assert.deepEqual(resource, {
    resourceType: 'Patient',
    id: '22222222-2222-4222-8222-222222222222',
    meta: { versionId: '2', lastUpdated: '2024-02-03T09:00:01.123456Z' },
    identifier: [
      {
        use: 'usual',
        type: { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/v2-0203', code: 'MR' }] },
        system: 'urn:example:mrn',
        value: '0042',
      },
    ],
    active: true,
    name: [
      { use: 'official', family: 'Öz', given: ['Ada', 'Mary'], prefix: ['Dr.'], period: { start: '2001' } },
      { use: 'maiden', family: 'Smith' },
    ],
    telecom: [
      { system: 'phone', value: '+49 30 1234', use: 'home', rank: 1 },
      { system: 'other', value: 'pigeon' },
    ],
    gender: 'female',
    birthDate: '1980-02',
    deceasedDateTime: '2023-12-24',
    address: [{ use: 'home', line: ['1 High Street'], city: 'Berlin', postalCode: '10115', country: 'DE' }],
    maritalStatus: {
      coding: [{ system: 'http://terminology.hl7.org/CodeSystem/v3-MaritalStatus', code: 'M' }],
    },
    multipleBirthInteger: 2,
    contact: [
      {
        relationship: [{ coding: [{ system: 'http://terminology.hl7.org/CodeSystem/v2-0131', code: 'N' }] }],
        name: { family: 'Öz' },
      },
    ],
    communication: [{ language: { coding: [{ system: 'urn:ietf:bcp:47', code: 'de' }] }, preferred: true }],
  });
  assert.deepEqual(fhirFaults(resource), []);
});

test('what is not known is left out; the record itself is an identifier where the source named none', () => {
  const resource = patientResource(bare);
  assert.deepEqual(resource, {
    resourceType: 'Patient',
    id: bare.id,
    meta: { versionId: '2', lastUpdated: '2024-02-03T09:00:01.123456Z' },
    identifier: [ours],
  });
  assert.deepEqual(fhirFaults(resource), []);
});

test('an identifier without a system does not stand for the record', () => {
  assert.deepEqual(patientResource({ ...bare, identifiers: [{ value: '7' }] }).identifier, [
    { value: '7' },
    ours,
  ]);
});

test('a contact without details is left out', () => {
  const contacts = [{ gender: 'male' }, { telecom: [{ system: 'phone', value: '1' }] }];
  const resource = patientResource({ ...bare, contacts });
  assert.deepEqual(resource.contact, [{ telecom: [{ system: 'phone', value: '1' }] }]);
  assert.deepEqual(fhirFaults(resource), []);
});

test('false is a value', () => {
  const resource = patientResource({
    ...bare,
    active: false,
    deceasedBoolean: false,
    multipleBirthBoolean: false,
  });
  assert.equal(resource.active, false);
  assert.equal(resource.deceasedBoolean, false);
  assert.equal(resource.multipleBirthBoolean, false);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LoadedPatient } from '../patient.ts';
import {
  keptPatient,
  PATIENT_MAPPING,
  patientJson,
  patientRecord,
  type SourcePatient,
} from './patient-text.fhir.ts';

const ID = '22222222-2222-4222-8222-222222222222';
const full: SourcePatient = {
  names: [
    { use: 'old', family: 'Smith' },
    { use: 'official', family: 'Öz', given: ['Ada', '"Ad"'], period: { start: '2001' } },
  ],
  identifiers: [{ use: 'usual', type: { text: 'MRN' }, system: 'urn:example:mrn', value: '0042' }],
  telecoms: [{ system: 'phone', value: '0\u001d1', rank: 1 }],
  active: true,
  gender: 'female',
  birthDate: '1980-02',
  deceasedBoolean: false,
  maritalStatus: { text: 'married' },
  multipleBirthInteger: 2,
  communication: [{ language: { text: 'Igbo' }, preferred: true }],
  contacts: [{ name: { family: 'Öz' } }],
  addresses: [{ line: ['1 Main Road'], city: 'Lagos' }],
};

function kept(said: SourcePatient): LoadedPatient {
  return {
    organisationId: '11111111-1111-4111-8111-111111111111',
    id: ID,
    text: keptPatient(said),
    assignedIdentifiers: [],
    links: [],
    replacedBy: null,
    replaces: [],
    refusedPurposes: ['RESEARCH'],
    version: 3,
    lastUpdated: '2026-01-10T07:55:00.123456Z',
  };
}

/**
 * Texts that are kept in databases were written by this version of the mapping. If another text is right now, raise
 * `PATIENT_MAPPING` and write the new text and version here.
 */
test('the text of a patient changes with the version of the mapping only', () => {
  assert.equal(PATIENT_MAPPING, 2);
  assert.deepEqual(
    [full, {}].map((said) => keptPatient(said).split('\u001d')),
    [
      [
        '"name":"Ada \\"Ad\\" Öz","gender":"female","birthDate":"1980-02","deceased":false,"identifiers":[{"use":"usual","type":{"text":"MRN"},"system":"urn:example:mrn","value":"0042"}]',
        '"active":true,"deceasedDateTime":null,"names":[{"use":"old","family":"Smith"},{"use":"official","family":"Öz","given":["Ada","\\"Ad\\""],"period":{"start":"2001"}}],"telecoms":[{"system":"phone","value":"0\\u001d1","rank":1}],"addresses":[{"line":["1 Main Road"],"city":"Lagos"}],"maritalStatus":{"text":"married"},"multipleBirth":2,"communication":[{"language":{"text":"Igbo"},"preferred":true}],"contacts":[{"name":{"family":"Öz"}}]',
        '"deceasedBoolean":false',
      ],
      [
        '"name":null,"gender":null,"birthDate":null,"deceased":false,"identifiers":[]',
        '"active":null,"deceasedDateTime":null,"names":[],"telecoms":[],"addresses":[],"maritalStatus":null,"multipleBirth":null,"communication":[],"contacts":[]',
        '',
      ],
    ],
  );
});

test('the record of a text has what the source said, and null or nothing for the rest', () => {
  const { text: _text, ...others } = kept({});
  const nothing = {
    ...others,
    names: [],
    identifiers: [],
    telecoms: [],
    active: null,
    gender: null,
    birthDate: null,
    deceasedBoolean: null,
    deceasedDateTime: null,
    maritalStatus: null,
    multipleBirthBoolean: null,
    multipleBirthInteger: null,
    communication: [],
    contacts: [],
    addresses: [],
  };
  const cases: SourcePatient[] = [
    {},
    full,
    { deceasedBoolean: true, multipleBirthBoolean: false },
    { deceasedDateTime: '2023-12-24', multipleBirthBoolean: true },
  ];
  for (const said of cases) assert.deepEqual(patientRecord(kept(said)), { ...nothing, ...said });
});

test('ids that exchanges assigned follow those of the source [PAT-8]', () => {
  const assigned = [
    { system: 'urn:example:exchange', value: 'X-1', assigner: { display: 'North' } },
    { system: 'urn:example:exchange', value: 'X-2', assigner: { display: 'South' } },
  ];
  const read = (said: SourcePatient) =>
    JSON.parse(patientJson({ ...kept(said), assignedIdentifiers: assigned, replaces: [ID] }));
  assert.deepEqual(read({}), {
    id: ID,
    name: null,
    gender: null,
    birthDate: null,
    deceased: false,
    identifiers: assigned,
    replacedBy: null,
    replaces: [ID],
    active: null,
    deceasedDateTime: null,
    names: [],
    telecoms: [],
    addresses: [],
    maritalStatus: null,
    multipleBirth: null,
    communication: [],
    contacts: [],
    refusedPurposes: ['RESEARCH'],
    version: 3,
    updatedAt: '2026-01-10T07:55:00.123456Z',
  });
  assert.deepEqual(read(full).identifiers, [...(full.identifiers ?? []), ...assigned]);
});

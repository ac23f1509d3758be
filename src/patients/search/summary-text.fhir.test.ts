import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keptSummary, PATIENT_MAPPING, patientSummaryJson, type SummaryRecord } from './summary-text.fhir.ts';

const ID = '22222222-2222-4222-8222-222222222222';
const full: SummaryRecord = {
  names: [
    { use: 'old', family: 'Smith' },
    { use: 'official', family: 'Öz', given: ['Ada', '"Ad"'], period: { start: '2001' } },
  ],
  gender: 'female',
  birthDate: '1980-02',
  deceasedDateTime: '2023-12-24',
  identifiers: [{ use: 'usual', type: { text: 'MRN' }, system: 'urn:example:mrn', value: '0042' }],
};

/**
 * Texts that are kept in databases were written by this version of the mapping. If another text is right now, raise
 * `PATIENT_MAPPING` and write the new text and version here.
 */
test('the text of a patient changes with the version of the mapping only', () => {
  assert.equal(PATIENT_MAPPING, 1);
  assert.deepEqual([full, {}].map(keptSummary), [
    '"name":"Ada \\"Ad\\" Öz","gender":"female","birthDate":"1980-02","deceased":true,"identifiers":[{"use":"usual","type":{"text":"MRN"},"system":"urn:example:mrn","value":"0042"}]',
    '"name":null,"gender":null,"birthDate":null,"deceased":false,"identifiers":[]',
  ]);
});

test('ids that exchanges assigned follow those of the source [PAT-8]', () => {
  const assigned = [
    { system: 'urn:example:exchange', value: 'X-1', assigner: { display: 'North' } },
    { system: 'urn:example:exchange', value: 'X-2', assigner: { display: 'South' } },
  ];
  const listed = (record: SummaryRecord) =>
    JSON.parse(
      patientSummaryJson({ id: ID, kept: keptSummary(record), assigned, replacedBy: null, replaces: [ID] }),
    );
  assert.deepEqual(listed({}), {
    id: ID,
    name: null,
    gender: null,
    birthDate: null,
    deceased: false,
    identifiers: assigned,
    replacedBy: null,
    replaces: [ID],
  });
  assert.deepEqual(listed(full).identifiers, [...(full.identifiers ?? []), ...assigned]);
});

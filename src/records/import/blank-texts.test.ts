/** Texts of nothing but white space, which R4 validators refuse: they say nothing, and are not kept. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clinicalFaults } from '../../../test-support/fhir/clinical-conformance.ts';
import { importJson } from '../../../test-support/records/import-files.ts';
import type { Json } from '../../../test-support/service/api.ts';
import { useTestApi } from '../../../test-support/service/use-api.ts';

const t = await useTestApi();
const PATIENT = '7e100000-0000-4000-8000-000000000001';
const RESULT = '7e100000-0000-4000-8000-000000000002';

async function taken(...resources: readonly object[]): Promise<Json[]> {
  const document = await importJson(
    t.api.database.pool,
    t.tenant,
    ...resources.map((resource) => JSON.stringify(resource)),
  );
  assert.deepEqual(document.rejected, []);
  return Promise.all(
    [`/patients/base/${PATIENT}/clinical/fhir`, `/fhir/Observation/${RESULT}`].map(async (path) => {
      const answer = await t.api.call(path, { token: t.account.token });
      assert.equal(answer.status, 200);
      assert.deepEqual(clinicalFaults(answer.text), []);
      return answer.json;
    }),
  );
}

test('a text of nothing but white space is not kept, and the record is [IN-59]', async () => {
  const blank = ' \n';
  const [patient, result] = await taken(
    {
      resourceType: 'Patient',
      id: PATIENT,
      identifier: [
        { system: 'urn:mrn', value: '1' },
        { system: 'urn:mrn', value: blank },
      ],
      name: [{ text: blank, family: 'Okafor', given: ['Ada', '\u00a0'] }, { text: blank }],
      telecom: [{ system: 'phone', value: blank }],
      address: [{ line: [blank], city: blank }],
    },
    {
      resourceType: 'Observation',
      id: RESULT,
      identifier: [{ system: 'urn:result', value: '1' }],
      status: 'final',
      category: [
        {
          coding: [
            {
              system: 'http://terminology.hl7.org/CodeSystem/observation-category',
              code: 'laboratory',
              display: blank,
            },
          ],
        },
      ],
      code: { coding: [{ system: 'urn:test', code: 'K', display: blank }], text: blank },
      subject: { reference: `Patient/${PATIENT}`, display: blank },
      performer: [{ reference: blank }],
      valueString: blank,
      note: [
        { authorString: 'Dr. Eze', text: blank },
        { authorString: blank, text: 'Haemolysed' },
      ],
      component: [
        { code: { text: 'Colour' }, valueString: blank },
        {
          code: { text: 'Curve' },
          valueSampledData: { origin: { value: 0, unit: blank }, period: 1, dimensions: 1, data: blank },
        },
      ],
    },
  );
  assert.deepEqual(patient?.name, [{ family: 'Okafor', given: ['Ada'] }]);
  assert.deepEqual(patient?.identifier, [{ system: 'urn:mrn', value: '1' }, { system: 'urn:mrn' }]);
  assert.deepEqual(patient?.telecom, [{ system: 'phone' }]);
  assert.equal(patient?.address, undefined);
  assert.deepEqual(result?.code, { coding: [{ system: 'urn:test', code: 'K' }] });
  assert.deepEqual(result?.note, [{ text: 'Haemolysed' }]);
  assert.equal(result?.valueString, undefined);
  assert.equal(result?.performer, undefined);
  assert.deepEqual(result?.component[0], {
    code: { text: 'Colour' },
    dataAbsentReason: {
      coding: [
        {
          system: 'http://terminology.hl7.org/CodeSystem/data-absent-reason',
          code: 'unknown',
          display: 'Unknown',
        },
      ],
    },
  });
});

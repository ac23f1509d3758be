/** A list whose items have only extensions, which the model does not keep, is no list when it goes out (R4, "JSON"). */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { fhirFaults } from '../../test-support/fhir/fhir-validator.ts';
import { importJson } from '../../test-support/records/import-files.ts';
import { useTestApi } from '../../test-support/service/use-api.ts';

const t = await useTestApi();

const UNKNOWN = [
  {
    extension: [{ url: 'http://hl7.org/fhir/StructureDefinition/data-absent-reason', valueCode: 'unknown' }],
  },
];

test('a name and a timing of which only extensions say something [HTTP-30]', async () => {
  const [patient, result] = [randomUUID(), randomUUID()];
  const name = { given: [null], _given: UNKNOWN };
  const sent = await importJson(
    t.api.database.pool,
    t.tenant,
    JSON.stringify({
      resourceType: 'Patient',
      id: patient,
      name: [name],
      contact: [{ name: { family: 'Öz', ...name } }],
    }),
    JSON.stringify({
      resourceType: 'Observation',
      id: result,
      status: 'final',
      category: [
        {
          coding: [
            { system: 'http://terminology.hl7.org/CodeSystem/observation-category', code: 'laboratory' },
          ],
        },
      ],
      code: { text: 'Sodium' },
      subject: { reference: `Patient/${patient}` },
      effectiveTiming: { event: [null], _event: UNKNOWN, code: { text: 'every day' } },
      valueString: 'x',
    }),
  );
  assert.deepEqual(sent.rejected, []);
  for (const path of [`/patients/base/${patient}/clinical/fhir`, `/fhir/Observation/${result}`]) {
    const { status, json } = await t.api.call(path, { token: t.account.token });
    assert.equal(status, 200);
    assert.deepEqual(fhirFaults(json), []);
  }
});

/** Programs of docs/fhir-clients.md whose library is here run as they are printed, against a real service. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { insertEncounter, insertPatient } from '../test-support/records/clinical-records.ts';
import { printedProgram, runProgram } from '../test-support/service/printed-program.ts';
import { useTestApi } from '../test-support/service/use-api.ts';

const PAGE = 'docs/fhir-clients.md';
const COUNT = 8;

const { api, tenant, account } = await useTestApi({ permissions: ['encounters.access'] });
const patientId = await insertPatient(api.database.pool, tenant);
let encounterId = '';
for (let made = 0; made < COUNT; made += 1)
  encounterId = await insertEncounter(api.database.pool, tenant, { patientId });
const env: Record<string, string> = {
  BASE: api.baseUrl,
  TOKEN: account.token,
  ORG_ID: tenant.organisationId,
  FACILITY_ID: tenant.facilityId,
  PATIENT_ID: patientId,
  ENCOUNTER_ID: encounterId,
};

describe(PAGE, () => {
  for (const library of ['fhir-kit-client', 'Medplum'])
    test(library, async () => {
      // Evaluated in the folder of the project, whose libraries it finds.
      const program = ['--input-type=module', '--eval', printedProgram(PAGE, library, 'js')];
      const { output, errors } = await runProgram(process.execPath, program, env);
      assert.equal(output, `search ${COUNT}\nread ${env.ENCOUNTER_ID}\n`, errors);
    });
});

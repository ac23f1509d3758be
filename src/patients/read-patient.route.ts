/** GET /patients/base/<id>. Contract: PAT-6. */

import type { Route } from '../platform/http/route.ts';
import { Type } from '../platform/json-schema.ts';
import { type Access, facilityRoute } from '../tenancy/callers/access.ts';
import { patientJson } from './kept/patient-text.fhir.ts';
import { PatientSchema } from './patient.schema.ts';
import { createReadPatient, type ReadPatientDependencies } from './read-patient.ts';

export function readPatientRoute(deps: ReadPatientDependencies): Route<Access> {
  const readPatient = createReadPatient(deps);
  return facilityRoute(
    { permissions: ['patients.patients.get'], module: 'patients', purposeOfUse: 'default' },
    {
      docs: { operationId: 'readPatient', summary: 'Read one patient', tag: 'Patients' },
      params: Type.Object({ patientId: Type.String({ description: 'UUID of the patient.' }) }),
      responses: { 200: { description: 'The patient.', schema: PatientSchema } },
      handle: async ({ params }, context) => ({
        body: patientJson(await readPatient(params.patientId, context)),
      }),
    },
  );
}

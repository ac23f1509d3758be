/** GET /patients/base/<id>/clinical/fhir: the FHIR Patient. Contract: PAT-7, PAT-13. */
import { hash } from 'node:crypto';
import { FORMAT_PARAMETER, requireFhirJson } from '../fhir/media-type.ts';
import { CONDITIONAL_READ, versionedReply, versionedResponses } from '../fhir/versioned-resource.ts';
import type { Route } from '../platform/http/route.ts';
import { Type } from '../platform/json-schema.ts';
import { type Access, facilityRoute } from '../tenancy/callers/access.ts';
import { patientRecord } from './kept/patient-text.fhir.ts';
import { patientResource } from './patient.fhir.ts';
import { FhirPatientSchema } from './patient.schema.ts';
import type { LoadedPatient } from './patient.ts';
import { createReadPatient, type ReadPatientDependencies } from './read-patient.ts';

export function readPatientFhirRoute(deps: ReadPatientDependencies): Route<Access> {
  const readPatient = createReadPatient(deps);
  return facilityRoute(
    { permissions: ['patients.patients.get'], module: 'patients', purposeOfUse: 'default' },
    {
      docs: {
        operationId: 'readPatientFhir',
        summary: 'Read one patient as a FHIR Patient',
        description: CONDITIONAL_READ,
        tag: 'Patients',
      },
      params: Type.Object({ patientId: Type.String({ description: 'UUID of the patient.' }) }),
      query: Type.Object({ _format: FORMAT_PARAMETER }),
      responses: versionedResponses('The FHIR R4 Patient.', FhirPatientSchema),
      handle: async ({ params, query }, context) => {
        requireFhirJson(context.headers, query._format);
        const patient = await readPatient(params.patientId, context);
        return versionedReply(context, { ...patient, variant: linksDigest(patient) }, () =>
          patientResource(patientRecord(patient)),
        );
      },
    },
  );
}

/** Which links go out depends on the other patients too, and changes without a new version of this one. */
function linksDigest({ links }: LoadedPatient): string | undefined {
  return links.length === 0 ? undefined : hash('sha256', JSON.stringify(links)).slice(0, 16);
}

/** GET /patients/base/<id>/clinical/fhir: the FHIR Patient. Contract: PAT-7. */
import Type from 'typebox';
import { FORMAT_PARAMETER } from '../fhir/format-parameter.ts';
import { FHIR_JSON, requireFhirJson } from '../fhir/media-type.ts';
import { matchesEtag, weakEtag } from '../platform/http/etag.ts';
import type { Route } from '../platform/http/route.ts';
import { type Access, facilityRoute } from '../tenancy/callers/access.ts';
import { patientResource } from './patient.fhir.ts';
import { FhirPatientSchema } from './patient.schema.ts';
import { type ReadPatientDependencies, readPatient } from './read-patient.ts';

export function readPatientFhirRoute(deps: ReadPatientDependencies): Route<Access> {
  return facilityRoute(
    { permissions: ['patients.patients.get'], module: 'patients', purposeOfUse: 'default' },
    {
      docs: {
        operationId: 'readPatientFhir',
        summary: 'Read one patient as a FHIR Patient',
        description:
          'The answer has `ETag` and `Last-Modified`. With `If-None-Match` it is 304 if you already have the current version.',
        tag: 'Patients',
      },
      params: Type.Object({ patientId: Type.String({ description: 'UUID of the patient.' }) }),
      query: Type.Object({ _format: FORMAT_PARAMETER }),
      responses: {
        200: {
          description: 'The FHIR R4 Patient.',
          schema: FhirPatientSchema,
          mediaType: 'application/fhir+json',
          headers: ['etag', 'last-modified'],
        },
        304: {
          description: 'You already have the current version: If-None-Match names it.',
          headers: ['etag', 'last-modified'],
        },
      },
      handle: async ({ params, query }, context) => {
        requireFhirJson(context.headers, query._format);
        const patient = await readPatient(deps, params.patientId, context);
        const etag = weakEtag(patient.version);
        const headers = { etag, 'last-modified': new Date(patient.lastUpdated).toUTCString() };
        if (matchesEtag(context.headers['if-none-match'], etag)) return { status: 304, headers };
        return { headers, contentType: FHIR_JSON, body: patientResource(patient) };
      },
    },
  );
}

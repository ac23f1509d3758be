/** GET /patients/base. Contract: PAT-1. */
import Type from 'typebox';
import { mapPage, PAGE_PARAMETERS, pageSchema } from '../platform/http/paging.ts';
import type { Route } from '../platform/http/route.ts';
import { type Access, facilityRoute } from '../tenancy/callers/access.ts';
import { PatientSummarySchema, patientSummary } from './patient.schema.ts';
import { type SearchPatientsDependencies, searchPatients } from './search-patients.ts';

export function searchPatientsRoute(deps: SearchPatientsDependencies): Route<Access> {
  return facilityRoute(
    { permissions: ['patients.patients.list'], module: 'patients', purposeOfUse: 'default' },
    {
      docs: {
        operationId: 'searchPatients',
        summary: "Search a facility's patients",
        description:
          "Ordered by name. Patients whose privacy setting refuses the purpose are left out. Each patient shown is entered in that patient's access log.",
        tag: 'Patients',
      },
      query: Type.Object({
        search: Type.Optional(
          Type.String({
            maxLength: 200,
            description:
              'Words that each start a part of the name, or a whole identifier, phone or email. Case and accents do not matter. Without it, every patient.',
          }),
        ),
        ...PAGE_PARAMETERS,
      }),
      responses: {
        200: {
          description: 'One page.',
          schema: pageSchema(PatientSummarySchema),
        },
      },
      handle: async ({ query }, context) => ({
        body: mapPage(await searchPatients(deps, query, context), patientSummary),
      }),
    },
  );
}

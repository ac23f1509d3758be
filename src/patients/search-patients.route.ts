/** GET /patients/base (specification, "Patients"; design 3.4). */
import Type from 'typebox';
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
        limit: Type.Optional(
          Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'Patients on a page.' }),
        ),
        cursor: Type.Optional(Type.String({ description: 'Opaque: nextCursor of the previous page.' })),
      }),
      responses: {
        200: {
          description: 'One page.',
          schema: Type.Object({
            items: Type.Array(PatientSummarySchema),
            nextCursor: Type.Union([Type.String(), Type.Null()], { description: 'null on the last page.' }),
          }),
        },
      },
      handle: async ({ query: { search, limit = 20, cursor } }, context) => {
        const { patients, nextCursor } = await searchPatients(deps, { search, limit, cursor }, context);
        return { body: { items: patients.map(patientSummary), nextCursor } };
      },
    },
  );
}

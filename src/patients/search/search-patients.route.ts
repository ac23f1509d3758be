/** GET /patients/base. Contract: PAT-1. */

import { onePage, PAGE_PARAMETERS, pageJson } from '../../platform/http/paging.ts';
import type { Route } from '../../platform/http/route.ts';
import { Type } from '../../platform/json-schema.ts';
import type { TracedListDependencies } from '../../privacy/authorise-access.ts';
import { type Access, facilityRoute } from '../../tenancy/callers/access.ts';
import { PatientSummarySchema } from '../patient.schema.ts';
import { createSearchPatients } from './search-patients.ts';

export function searchPatientsRoute(deps: TracedListDependencies): Route<Access> {
  const searchPatients = createSearchPatients(deps);
  return facilityRoute(
    { permissions: ['patients.patients.list'], module: 'patients', purposeOfUse: 'default' },
    {
      docs: {
        operationId: 'searchPatients',
        summary: "Search a facility's patients",
        description:
          "Ordered by name. The answer leaves out patients whose privacy setting refuses the purpose. The service enters each patient shown in that patient's access log.",
        tag: 'Patients',
      },
      query: Type.Object({
        search: Type.Optional(
          Type.String({
            maxLength: 200,
            description:
              'The beginning of one or more names, or a whole identifier, phone number or email address. Upper case and accents do not matter. Without it, every patient is found.',
          }),
        ),
        ...PAGE_PARAMETERS,
      }),
      responses: onePage(PatientSummarySchema),
      handle: async ({ query }, context) => ({
        body: pageJson(await searchPatients(query, context), ({ summary }) => summary),
      }),
    },
  );
}

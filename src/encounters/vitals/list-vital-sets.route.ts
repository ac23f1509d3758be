/** GET /encounters/vitals (docs/vitals.md). Contract: FETCH-20. */

import { LIST_QUERY } from '../../clinical/fetch/clinical.schema.ts';
import { ENCOUNTER_ID, PATIENT_ID, VITAL_SET_ID } from '../../clinical/fetch/fetched-examples.ts';
import type { CodedListDependencies } from '../../clinical/fetch/list-of-patient.ts';
import { named } from '../../platform/http/named-schema.ts';
import { pageSchema } from '../../platform/http/paging.ts';
import type { Route } from '../../platform/http/route.ts';
import { Type } from '../../platform/json-schema.ts';
import { type Access, facilityRoute } from '../../tenancy/callers/access.ts';
import { listVitalSets } from './list-vital-sets.ts';

const VitalSetPageSchema = pageSchema(
  named(
    'ListedVitalSet',
    Type.Object(
      {
        vitalSetId: Type.String(),
        patientId: Type.String(),
        encounterId: Type.Union([Type.String(), Type.Null()]),
        takenAt: Type.String({ format: 'date-time' }),
        vitalSigns: Type.Integer({ description: 'Number of Observations that the fetch answers.' }),
      },
      {
        examples: [
          {
            vitalSetId: VITAL_SET_ID,
            patientId: PATIENT_ID,
            encounterId: ENCOUNTER_ID,
            takenAt: '2026-01-10T08:15:00Z',
            vitalSigns: 1,
          },
        ],
      },
    ),
  ),
);

export function listVitalSetsRoute(deps: CodedListDependencies): Route<Access> {
  return facilityRoute(
    { permissions: ['encounters.vitals.read'], module: 'vitals', purposeOfUse: 'default' },
    {
      docs: {
        operationId: 'listVitalSets',
        summary: "List a patient's vital sets",
        description: 'Newest first. Use it to find the ids.',
        tag: 'Vital signs',
      },
      query: LIST_QUERY,
      responses: { 200: { description: 'One page.', schema: VitalSetPageSchema } },
      handle: async ({ query }, context) => ({
        body: await listVitalSets(deps, query, context),
      }),
    },
  );
}

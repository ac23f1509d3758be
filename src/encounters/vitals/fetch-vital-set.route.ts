/** GET /encounters/vitals/<vital_set_id>/clinical/fhir. Contract: FETCH-3. */

import {
  CollectionSchema,
  JSON_TEXT,
  ObservationSummarySchema,
} from '../../clinical/fetch/clinical.schema.ts';
import { VITAL_SET_ID } from '../../clinical/fetch/fetched-examples.ts';
import type { FetchKind } from '../../clinical/fetch/read-resource.ts';
import { named } from '../../platform/http/named-schema.ts';
import type { Route } from '../../platform/http/route.ts';
import { Type } from '../../platform/json-schema.ts';
import { type Access, facilityRoute } from '../../tenancy/callers/access.ts';

export function fetchVitalSetRoute(fetchVitalSet: FetchKind['fetch']): Route<Access> {
  return facilityRoute(
    { permissions: ['encounters.vitals.read'], module: 'vitals', purposeOfUse: 'default' },
    {
      docs: {
        operationId: 'fetchVitalSet',
        summary: 'Fetch a vital set as FHIR',
        description:
          'One Observation for each vital sign, with a LOINC code and the units of the R4 vital-signs profiles. Blood pressure is one Observation with two components.',
        tag: 'Vital signs',
      },
      params: Type.Object({ vitalSetId: Type.String({ description: 'UUID of the vital set.' }) }),
      responses: {
        200: {
          description: 'The vital set.',
          schema: named(
            'VitalSet',
            Type.Object({
              vitalSetId: Type.String({ examples: [VITAL_SET_ID] }),
              bundle: CollectionSchema,
              observations: Type.Array(ObservationSummarySchema),
            }),
          ),
        },
        422: { description: 'The record is too large for one answer.' },
      },
      handle: async ({ params }, context) => ({
        contentType: JSON_TEXT,
        body: await fetchVitalSet(params.vitalSetId, context),
      }),
    },
  );
}

/** GET /encounters/fhir/Encounter/<encounter_id>. Contract: ENC-1, ENC-12, ENC-30, ENC-31. */

import { FORMAT_PARAMETER, requireFhirJson } from '../fhir/media-type.ts';
import { CONDITIONAL_READ, versionedReply, versionedResponses } from '../fhir/versioned-resource.ts';
import type { Route } from '../platform/http/route.ts';
import { Type } from '../platform/json-schema.ts';
import { type Access, facilityRoute } from '../tenancy/callers/access.ts';
import { encounterJson } from './encounter.fhir.ts';
import { EncounterSchema } from './encounter.schema.ts';
import { createReadEncounter, type ReadEncounterDependencies } from './read-encounter.ts';

export function readEncounterRoute(deps: ReadEncounterDependencies): Route<Access> {
  const readEncounter = createReadEncounter(deps);
  return facilityRoute(
    {
      permissions: ['encounters.access', 'encounters.fhir.encounter.read'],
      module: 'encounters',
      purposeOfUse: 'required',
    },
    {
      docs: {
        operationId: 'readEncounter',
        summary: 'Read one Encounter',
        description: CONDITIONAL_READ,
        tag: 'Encounters',
      },
      params: Type.Object({ encounterId: Type.String({ description: 'UUID of the encounter.' }) }),
      query: Type.Object({ _format: FORMAT_PARAMETER }),
      responses: versionedResponses('The Encounter.', EncounterSchema),
      handle: async ({ params, query }, context) => {
        requireFhirJson(context.headers, query._format);
        const encounter = await readEncounter(params.encounterId, context);
        return versionedReply(context, encounter, () => encounterJson(encounter));
      },
    },
  );
}

/** GET /encounters/fhir/Encounter/<encounter_id>. Contract: ENC-1, ENC-12, ENC-30, ENC-31, ENC-32. */
import Type from 'typebox';
import { FORMAT_PARAMETER } from '../fhir/format-parameter.ts';
import { FHIR_JSON, requireFhirJson } from '../fhir/media-type.ts';
import { matchesEtag, weakEtag } from '../platform/http/etag.ts';
import type { Route } from '../platform/http/route.ts';
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
        description:
          'The answer has `ETag` and `Last-Modified`. With `If-None-Match` it is 304 if you already have the current version.',
        tag: 'Encounters',
      },
      params: Type.Object({ encounterId: Type.String({ description: 'UUID of the encounter.' }) }),
      query: Type.Object({ _format: FORMAT_PARAMETER }),
      responses: {
        200: {
          description: 'The Encounter.',
          schema: EncounterSchema,
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
        const encounter = await readEncounter(params.encounterId, context);
        const etag = weakEtag(encounter.version);
        const headers = { etag, 'last-modified': new Date(encounter.lastUpdated).toUTCString() };
        if (matchesEtag(context.headers['if-none-match'], etag)) return { status: 304, headers };
        return {
          headers,
          contentType: FHIR_JSON,
          body: encounterJson(encounter, context.scope.organisationId),
        };
      },
    },
  );
}

/**
 * GET /fhir/<Type>/<id>: where the `fullUrl` of a fetched resource leads (docs/adr/0094).
 * Contract: FETCH-17.
 */

import { FHIR_JSON, FORMAT_PARAMETER, requireFhirJson } from '../../fhir/media-type.ts';
import type { Queryable } from '../../platform/db/database.ts';
import type { Route } from '../../platform/http/route.ts';
import { Type } from '../../platform/json-schema.ts';
import { type Access, facilityRoute } from '../../tenancy/callers/access.ts';
import { resource } from './clinical.schema.ts';
import { type FetchKind, readResource } from './read-resource.ts';
import type { FetchedType } from './resource-owner.store.ts';

/** `kinds`: the fetches that may show the type, in the order in which they are asked. */
export function readResourceRoute(
  deps: { db: Queryable },
  resourceType: FetchedType,
  kinds: readonly FetchKind[],
): Route<Access> {
  return facilityRoute(
    {
      permissions: kinds.map(({ permission }) => permission),
      moduleOf: Object.fromEntries(kinds.map(({ permission, module }) => [permission, module])),
      purposeOfUse: 'default',
    },
    {
      docs: {
        operationId: `read${resourceType}`,
        summary: `Read one ${resourceType} of a fetched Bundle`,
        description:
          'The address in `fullUrl`. Checks, access log entry and content are the same as in the fetch of the whole Bundle.',
        tag: 'FHIR resources',
      },
      params: Type.Object({ resourceId: Type.String({ description: `UUID of the ${resourceType}.` }) }),
      query: Type.Object({ _format: FORMAT_PARAMETER }),
      responses: {
        200: {
          description: `The ${resourceType}.`,
          schema: resource(resourceType),
          mediaType: 'application/fhir+json',
        },
        422: { description: 'The record is too large for one answer.' },
      },
      handle: async ({ params, query }, context) => {
        requireFhirJson(context.headers, query._format);
        const asked = { resourceType, id: params.resourceId };
        return { contentType: FHIR_JSON, body: await readResource({ ...deps, kinds }, asked, context) };
      },
    },
  );
}

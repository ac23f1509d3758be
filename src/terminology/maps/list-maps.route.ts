/** GET /terminology/maps. Contract: TERM-8. */

import { PAGE_PARAMETERS, pageSchema } from '../../platform/http/paging.ts';
import type { Route } from '../../platform/http/route.ts';
import { Type } from '../../platform/json-schema.ts';
import { type Access, facilityRoute } from '../../tenancy/callers/access.ts';
import { type ListMapsDependencies, listMaps } from './list-maps.ts';
import { LevelParameter, MapItemSchema, READING_MAPS } from './map.schema.ts';

const Filter = (description: string) => Type.Optional(Type.String({ maxLength: 500, description }));

export function listMapsRoute(deps: ListMapsDependencies): Route<Access> {
  return facilityRoute(READING_MAPS, {
    docs: {
      operationId: 'listTerminologyMaps',
      summary: 'List terminology maps',
      description:
        'The entries of the organisation and of the facility of the call. Entries of the facility win.',
      tag: 'Terminology',
    },
    query: Type.Object({
      localSystem: Filter('Only entries of this local system. Empty: only codes without a system.'),
      localCode: Filter('Only entries of this local code.'),
      targetSystem: Filter('Only entries of this standard system.'),
      targetCode: Filter('Only entries of this standard code.'),
      level: LevelParameter('Only the entries of the organisation, or only those of the facility.'),
      search: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 100,
          description: 'Text to find in codes and displays. Upper and lower case are the same.',
        }),
      ),
      ...PAGE_PARAMETERS,
    }),
    responses: {
      200: {
        description: 'One page, sorted by local system, local code and standard system.',
        schema: pageSchema(MapItemSchema),
      },
    },
    handle: async ({ query }, { scope }) => ({
      body: await listMaps(deps, scope, query),
    }),
  });
}

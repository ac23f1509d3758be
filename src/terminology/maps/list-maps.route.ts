/** GET /terminology/maps (specification, "What the service does", 4). */
import Type from 'typebox';
import type { Route } from '../../platform/http/route.ts';
import { type Access, facilityRoute } from '../../tenancy/callers/access.ts';
import { type ListMapsDependencies, listMaps } from './list-maps.ts';
import {
  CursorParameter,
  LevelParameter,
  LimitParameter,
  MapItemSchema,
  mapItem,
  NextCursor,
} from './map.schema.ts';

const Filter = (description: string) => Type.Optional(Type.String({ maxLength: 500, description }));

export function listMapsRoute(deps: ListMapsDependencies): Route<Access> {
  return facilityRoute(
    { permissions: ['terminology.maps.read', 'terminology.maps.manage'], purposeOfUse: 'none' },
    {
      docs: {
        operationId: 'listTerminologyMaps',
        summary: 'List terminology maps',
        description: 'The entries of the organisation and those of the facility of the call, which win.',
        tag: 'Terminology',
      },
      query: Type.Object({
        localSystem: Filter('Only of this local system; empty for codes without one.'),
        localCode: Filter('Only of this local code.'),
        targetSystem: Filter('Only to this standard system.'),
        targetCode: Filter('Only to this standard code.'),
        level: LevelParameter('Only the entries of the organisation, or only those of the facility.'),
        search: Type.Optional(
          Type.String({
            minLength: 1,
            maxLength: 100,
            description: 'Found anywhere in codes and displays, without case.',
          }),
        ),
        limit: LimitParameter,
        cursor: CursorParameter,
      }),
      responses: {
        200: {
          description: 'One page, by local system, local code and standard system.',
          schema: Type.Object({ items: Type.Array(MapItemSchema), nextCursor: NextCursor }),
        },
      },
      handle: async ({ query }, { scope }) => {
        const { entries, nextCursor } = await listMaps(deps, scope, query);
        return { body: { items: entries.map(mapItem), nextCursor } };
      },
    },
  );
}

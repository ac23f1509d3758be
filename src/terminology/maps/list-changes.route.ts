/** GET /terminology/maps/changes: who changed which entry, and when. Contract: TERM-18. */

import { named } from '../../platform/http/named-schema.ts';
import { PAGE_PARAMETERS, pageSchema } from '../../platform/http/paging.ts';
import type { Route } from '../../platform/http/route.ts';
import { Choice, InstantText, NullableText } from '../../platform/http/schema.ts';
import { Type } from '../../platform/json-schema.ts';
import { type Access, facilityRoute } from '../../tenancy/callers/access.ts';
import { type ListMapsDependencies, listMapChanges } from './list-maps.ts';
import { MAP_EXAMPLE, MapItemSchema, READING_MAPS } from './map.schema.ts';

const { facilityId, localSystem, localCode, targetSystem, targetCode, targetDisplay, equivalence, version } =
  MapItemSchema.properties;

const { id: mapId, updatedAt, updatedBy, localDisplay: _display, comment: _comment, ...entry } = MAP_EXAMPLE;
const CHANGE_EXAMPLE = { mapId, kind: 'created', ...entry, changedAt: updatedAt, changedBy: updatedBy };

const ChangeSchema = named(
  'MapChange',
  Type.Object(
    {
      mapId: Type.String({ description: 'The entry.' }),
      version,
      kind: Choice(['created', 'changed', 'deleted']),
      facilityId,
      localSystem,
      localCode,
      targetSystem,
      targetCode,
      targetDisplay,
      equivalence,
      changedAt: InstantText('UTC instant.'),
      changedBy: NullableText('The account that made the change. null: an operator at the command line.'),
    },
    { examples: [CHANGE_EXAMPLE] },
  ),
);

export function listChangesRoute(deps: ListMapsDependencies): Route<Access> {
  return facilityRoute(READING_MAPS, {
    docs: {
      operationId: 'listTerminologyMapChanges',
      summary: 'List the changes of terminology maps',
      description:
        'Newest first. A change shows the entry as it was after the change; a deletion shows it as it was before.',
      tag: 'Terminology',
    },
    query: Type.Object({
      localCode: Type.Optional(Type.String({ description: 'Only changes of this local code.' })),
      ...PAGE_PARAMETERS,
    }),
    responses: {
      200: {
        description: 'One page.',
        schema: pageSchema(ChangeSchema),
      },
    },
    handle: async ({ query }, { scope }) => ({ body: await listMapChanges(deps, scope, query) }),
  });
}

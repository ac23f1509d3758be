/** GET /terminology/maps, and …/changes: who changed which entry, and when. Contract: TERM-8, TERM-18. */
import { named } from '../../platform/http/named-schema.ts';
import { type ListDependencies, onePage, PAGE_PARAMETERS, pageSchema } from '../../platform/http/paging.ts';
import type { Route } from '../../platform/http/route.ts';
import { Choice, InstantText, NullableText } from '../../platform/http/schema.ts';
import { Type } from '../../platform/json-schema.ts';
import { type Access, facilityRoute } from '../../tenancy/callers/access.ts';
import { listMapChanges, listMaps } from './list-maps.ts';
import { LevelParameter, MAP_EXAMPLE, MapItemSchema, READING_MAPS } from './map.schema.ts';

const Filter = (description: string) => Type.Optional(Type.String({ maxLength: 500, description }));

export function listMapsRoute(deps: ListDependencies): Route<Access> {
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

export function listChangesRoute(deps: ListDependencies): Route<Access> {
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
    responses: onePage(ChangeSchema),
    handle: async ({ query }, { scope }) => ({ body: await listMapChanges(deps, scope, query) }),
  });
}

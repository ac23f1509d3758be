/** GET /terminology/unmapped/suggestions. Contract: ADM-65. */

import type { Queryable } from '../../platform/db/database.ts';
import { named } from '../../platform/http/named-schema.ts';
import { listSchema } from '../../platform/http/paging.ts';
import type { Route } from '../../platform/http/route.ts';
import { Choice, Nullable, NullableText } from '../../platform/http/schema.ts';
import { Type } from '../../platform/json-schema.ts';
import { type Access, facilityRoute } from '../../tenancy/callers/access.ts';
import { READING_MAPS } from '../maps/map.schema.ts';
import { MAP_OWNERS, SUGGESTION_REASONS, suggestMaps } from './suggest-maps.ts';

/** A local code; shared with the example of a result. */
export const LOCAL_CODE_QUERY = {
  system: Type.Optional(
    Type.String({ maxLength: 500, default: '', description: 'Left out for a code without a system.' }),
  ),
  code: Type.String({ minLength: 1, maxLength: 200 }),
};

const SuggestionSchema = named(
  'MapSuggestion',
  Type.Object(
    {
      targetSystem: Type.String(),
      targetCode: Type.String(),
      targetDisplay: NullableText(),
      unitFits: Nullable(
        Type.Boolean(),
        'Whether the name of the target has the property that the unit measures. null: that cannot be told.',
      ),
      why: Type.Array(
        named(
          'MapSuggestionReason',
          Type.Object({
            reason: Choice(SUGGESTION_REASONS),
            from: Choice(MAP_OWNERS, 'Whose map it stands in.'),
            localSystem: Type.String(),
            localCode: Type.String(),
            localDisplay: NullableText(),
          }),
        ),
      ),
    },
    {
      examples: [
        {
          targetSystem: 'http://loinc.org',
          targetCode: '15074-8',
          targetDisplay: 'Glucose [Moles/volume] in Blood',
          unitFits: true,
          why: [
            {
              reason: 'same-code',
              from: 'other-facility',
              localSystem: 'http://hospital.example/lab',
              localCode: 'GLU',
              localDisplay: 'Glucose',
            },
          ],
        },
      ],
    },
  ),
);

export function suggestMapsRoute({ db }: { db: Queryable }): Route<Access> {
  return facilityRoute(READING_MAPS, {
    docs: {
      operationId: 'suggestTerminologyMaps',
      summary: 'Suggest standard codes for a local code',
      description:
        'From the maps of the organisation: by the same code, the same name or a like name. At most ten, best first. A person decides.',
      tag: 'Terminology',
    },
    query: Type.Object({
      ...LOCAL_CODE_QUERY,
      display: Type.Optional(
        Type.String({ maxLength: 500, description: 'Name of the code. Default: as it was met.' }),
      ),
      unit: Type.Optional(Type.String({ maxLength: 100, description: 'Unit of a result with that code.' })),
    }),
    responses: {
      200: {
        description: 'The suggestions.',
        schema: listSchema(SuggestionSchema),
      },
    },
    handle: async ({ query: { system = '', ...rest } }, { scope }) => ({
      body: { items: await suggestMaps(db, scope, { system, ...rest }) },
    }),
  });
}

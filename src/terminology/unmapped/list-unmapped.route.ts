/**
 * GET /terminology/unmapped: local codes without a standard code, how often and where they were met.
 * Contract: TERM-16.
 */

import { named } from '../../platform/http/named-schema.ts';
import { type ListDependencies, onePage, PAGE_PARAMETERS } from '../../platform/http/paging.ts';
import type { Route } from '../../platform/http/route.ts';
import { Choice, InstantText, NullableText } from '../../platform/http/schema.ts';
import { Type } from '../../platform/json-schema.ts';
import { type Access, facilityRoute } from '../../tenancy/callers/access.ts';
import { READING_MAPS } from '../maps/map.schema.ts';
import { listUnmappedCodes } from './list-unmapped.ts';
import { UNMAPPED_PLACES } from './record-unmapped.ts';

const UnmappedSchema = named(
  'UnmappedCode',
  Type.Object(
    {
      facilityId: Type.String(),
      localSystem: Type.String({ description: 'Empty for a code without a system.' }),
      localCode: Type.String(),
      localDisplay: NullableText(),
      count: Type.Integer({
        description: 'How often an import or a fetch met the code without a standard code.',
      }),
      places: Type.Array(
        named('UnmappedPlace', Type.Object({ place: Type.String(), count: Type.Integer() })),
        {
          description: `Where the code was found: ${UNMAPPED_PLACES.join(', ')}.`,
        },
      ),
      firstMetAt: InstantText('UTC instant.'),
      lastMetAt: InstantText('UTC instant.'),
    },
    {
      examples: [
        {
          facilityId: '1ad45065-64ba-4128-b0b5-1666625efdaf',
          localSystem: 'http://hospital.example/imaging',
          localCode: 'XR-WRIST-2',
          localDisplay: 'Wrist X-ray, 2 views',
          count: 4,
          places: [
            { place: 'imaging.order', count: 2 },
            { place: 'imaging.report', count: 2 },
          ],
          firstMetAt: '2026-01-10T08:00:00.000Z',
          lastMetAt: '2026-01-10T09:30:00.000Z',
        },
      ],
    },
  ),
);

export function listUnmappedRoute(deps: ListDependencies): Route<Access> {
  return facilityRoute(READING_MAPS, {
    docs: {
      operationId: 'listUnmappedCodes',
      summary: 'List local codes that no terminology map covers',
      description:
        'Codes of the facility of the call, most frequent first. A code leaves the list when a terminology map covers it.',
      tag: 'Terminology',
    },
    query: Type.Object({
      place: Type.Optional(Choice(UNMAPPED_PLACES, 'Only met in this.')),
      ...PAGE_PARAMETERS,
    }),
    responses: onePage(UnmappedSchema),
    handle: async ({ query }, { scope }) => {
      const request = { ...query, facilityId: scope.facilityId };
      return { body: await listUnmappedCodes(deps, scope, request) };
    },
  });
}

/** DELETE /terminology/maps: one entry, by its local code and standard system. Contract: TERM-9. */

import type { Pool } from '../../platform/db/database.ts';
import type { Route } from '../../platform/http/route.ts';
import { Type } from '../../platform/json-schema.ts';
import { authorOf } from '../../tenancy/administration/author.ts';
import { type Access, facilityRoute } from '../../tenancy/callers/access.ts';
import { deleteMapEntry } from './change-maps.ts';
import { CHANGING_MAPS, LevelParameter, mapScope } from './map.schema.ts';

export function deleteMapRoute(deps: { db: Pool }): Route<Access> {
  return facilityRoute(CHANGING_MAPS, {
    docs: {
      operationId: 'deleteTerminologyMap',
      summary: 'Delete one entry of a terminology map',
      description:
        'Fetches no longer use the entry from now on. The service keeps on record who deleted it, and when. Only an account that may use every facility, or whose role has terminology.maps.organisation, may delete an entry of the organisation.',
      tag: 'Terminology',
    },
    query: Type.Object({
      localSystem: Type.Optional(
        Type.String({ description: 'Leave it out, or empty, for codes without a system.' }),
      ),
      localCode: Type.String(),
      targetSystem: Type.String(),
      level: LevelParameter(
        '`facility` deletes the entry of the facility of the call. Default: `organisation`.',
      ),
    }),
    responses: { 204: { description: 'Deleted.' } },
    handle: async ({ query }, context) => {
      const { localSystem = '', localCode, targetSystem, level } = query;
      const change = { now: context.now, author: authorOf(context) };
      const key = { localSystem, localCode, targetSystem };
      await deleteMapEntry(deps.db, mapScope(context, level), { key, change });
      return { status: 204 };
    },
  });
}

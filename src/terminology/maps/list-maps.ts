/** Lists the entries that concern a facility: its own and its organisation's. */
import type { Queryable } from '../../platform/db/database.ts';
import type { CursorCodec } from '../../platform/http/cursor.ts';
import {
  type ListFilter,
  type ListPosition,
  listEntries,
  positionOf,
  type StoredEntry,
} from './list-maps.store.ts';
import type { MapScope } from './map.store.ts';

export interface ListMapsDependencies {
  db: Queryable;
  cursors: CursorCodec;
}

export interface ListMapsRequest extends ListFilter {
  limit?: number | undefined;
  cursor?: string | undefined;
}

/** One page, and the cursor of the next one; 400 for a cursor of another list. */
export async function listMaps(
  { db, cursors }: ListMapsDependencies,
  scope: MapScope,
  { limit = 20, cursor, ...filter }: ListMapsRequest,
): Promise<{ entries: StoredEntry[]; nextCursor: string | null }> {
  const binding = ['terminology-maps', scope.organisationId, scope.facilityId, ...filterBinding(filter)];
  const after = cursor === undefined ? undefined : (cursors.decode(binding, cursor) as ListPosition);
  const found = await listEntries(db, scope, { filter, after, limit: limit + 1 });
  const entries = found.slice(0, limit);
  const last = entries.at(-1);
  const nextCursor =
    found.length > limit && last !== undefined ? cursors.encode(binding, positionOf(last)) : null;
  return { entries, nextCursor };
}

function filterBinding(filter: ListFilter): (string | null)[] {
  const { localSystem, localCode, targetSystem, targetCode, level, search } = filter;
  return [localSystem, localCode, targetSystem, targetCode, level, search].map((value) => value ?? null);
}

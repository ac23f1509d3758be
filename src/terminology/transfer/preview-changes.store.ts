/** SQL of the preview of an import: what the map has for the entries of a file. Contract: TERM-23. */
import type { Queryable } from '../../platform/db/database.ts';
import { columnsOf, type MapKey, type MapScope } from '../maps/map.store.ts';
import type { MapEntry } from '../maps/map-entry.ts';

/** What an entry says, besides what it is found by. */
export type MapContent = Omit<MapEntry, keyof MapKey>;

export interface Difference {
  /** Place of the given entry among those given. From 0. */
  position: number;
  /** What the map has now; null when it has no such entry. */
  before: MapContent | null;
}

/**
 * Of the given entries, those that the map does not have as they are, in their order. Each is looked up by itself, so
 * that the index is used: a dry run makes the map grow before its statistics know, and a join of the two would read all
 * of a large map for each entry.
 */
export async function findDifferences(
  db: Queryable,
  scope: MapScope,
  entries: readonly MapEntry[],
): Promise<Difference[]> {
  const { rows } = await db.query<MapContent & { position: number; isStored: boolean }>({
    text: `
      select (given.position - 1)::int as position, map.id is not null as "isStored",
        map.local_display as "localDisplay", map.target_code as "targetCode", map.target_display as "targetDisplay",
        map.equivalence, map.comment
      from unnest($3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[])
        with ordinality as given(local_system, local_code, local_display, target_system, target_code, target_display,
          equivalence, comment, position)
      left join lateral (
        select stored.*
        from terminology_map stored
        where stored.organisation_id = $1
          and stored.facility_id is not distinct from $2::uuid
          and stored.local_system = given.local_system
          and stored.local_code = given.local_code
          and stored.target_system = given.target_system
        limit 1
      ) map on true
      where map.id is null
        or (map.local_display, map.target_code, map.target_display, map.equivalence, map.comment)
          is distinct from (given.local_display, given.target_code, given.target_display, given.equivalence,
            given.comment)
      order by given.position`,
    values: [scope.organisationId, scope.facilityId, ...columnsOf(entries)],
  });
  return rows.map(({ position, isStored, ...before }) => ({ position, before: isStored ? before : null }));
}

/** SQL of terminology maps: lists, single entries, and the groups of an export. Contract: TERM-9. */
import type { Queryable } from '../../platform/db/database.ts';
import type { Slice } from '../../platform/http/paging.ts';
import type { StoredEntry } from './map.schema.ts';
import type { MapKey, MapScope } from './map.store.ts';

const COLUMNS = `map.id, map.facility_id as "facilityId", map.local_system as "localSystem", map.local_code as "localCode",
  map.local_display as "localDisplay", map.target_system as "targetSystem", map.target_code as "targetCode",
  map.target_display as "targetDisplay", map.equivalence, map.comment, map.version, map.updated_at as "updatedAt",
  map.updated_by as "updatedBy"`;

export interface ListFilter {
  localSystem?: string | undefined;
  localCode?: string | undefined;
  targetSystem?: string | undefined;
  targetCode?: string | undefined;
  /** `organisation`: the organisation's own entries; `facility`: those of the facility; absent: both. */
  level?: 'organisation' | 'facility' | undefined;
  /** Found anywhere in the codes and displays, without case. */
  search?: string | undefined;
}

/** Local system, local code, target system, level. */
export type EntryPosition = readonly [
  localSystem: string,
  localCode: string,
  targetSystem: string,
  level: number,
];

export function entryPosition(entry: StoredEntry): EntryPosition {
  return [entry.localSystem, entry.localCode, entry.targetSystem, entry.facilityId === null ? 0 : 1];
}

/**
 * Entries of the organisation, and of the facility unless `facilityId` is null, by local system, local code and target
 * system; the organisation's before the facility's.
 */
export async function listEntries(
  db: Queryable,
  scope: MapScope,
  { filter, after, limit }: Slice<EntryPosition> & { filter: ListFilter },
): Promise<StoredEntry[]> {
  const { rows } = await db.query<StoredEntry>({
    name: 'terminology-list',
    text: `
      select ${COLUMNS}
      from terminology_map map
      where map.organisation_id = $1
        and (map.facility_id is null or map.facility_id = $2)
        and ($3::text is null or map.local_system = $3)
        and ($4::text is null or map.local_code = $4)
        and ($5::text is null or map.target_system = $5)
        and ($6::text is null or map.target_code = $6)
        and ($7::boolean is null or (map.facility_id is null) = $7)
        and ($8::text is null or position(lower($8) in lower(concat_ws(' ', map.local_code, map.local_display,
          map.target_code, map.target_display))) > 0)
        and ($9::text is null or (map.local_system, map.local_code, map.target_system,
          (map.facility_id is not null)::int) > ($9, $10, $11, $12::int))
      order by map.local_system, map.local_code, map.target_system, (map.facility_id is not null)::int
      limit $13`,
    values: [
      scope.organisationId,
      scope.facilityId,
      filter.localSystem,
      filter.localCode,
      filter.targetSystem,
      filter.targetCode,
      filter.level === undefined ? null : filter.level === 'organisation',
      filter.search,
      ...(after ?? [null, null, null, null]),
      limit,
    ],
  });
  return rows;
}

export async function findEntry(
  db: Queryable,
  scope: MapScope,
  key: MapKey,
): Promise<StoredEntry | undefined> {
  const { rows } = await db.query<StoredEntry>({
    name: 'terminology-find',
    text: `
      select ${COLUMNS}
      from terminology_map map
      where map.organisation_id = $1
        and map.facility_id is not distinct from $2::uuid
        and map.local_system = $3
        and map.local_code = $4
        and map.target_system = $5`,
    values: [scope.organisationId, scope.facilityId, key.localSystem, key.localCode, key.targetSystem],
  });
  return rows[0];
}

/** The entries that count for one local code at a facility: of each target system, the facility's before the organisation's. */
export async function entriesOfCode(
  db: Queryable,
  scope: MapScope,
  {
    localSystem,
    localCode,
    targetSystem,
  }: { localSystem: string; localCode: string; targetSystem?: string | undefined },
): Promise<StoredEntry[]> {
  const { rows } = await db.query<StoredEntry>({
    name: 'terminology-entries-of-code',
    text: `
      select distinct on (map.target_system) ${COLUMNS}
      from terminology_map map
      where map.organisation_id = $1
        and (map.facility_id is null or map.facility_id = $2)
        and map.local_system = $3
        and map.local_code = $4
        and ($5::text is null or map.target_system = $5)
      order by map.target_system, map.facility_id nulls last`,
    values: [scope.organisationId, scope.facilityId, localSystem, localCode, targetSystem ?? null],
  });
  return rows;
}

/** A pair of local and target system that a map has. */
interface SystemPair {
  localSystem: string;
  targetSystem: string;
  hasRelation: boolean;
}

export async function listGroups(db: Queryable, scope: MapScope): Promise<SystemPair[]> {
  const { rows } = await db.query<SystemPair>({
    text: `
      select local_system as "localSystem", target_system as "targetSystem",
        bool_or(equivalence <> 'equivalent' or comment is not null) as "hasRelation"
      from terminology_map
      where organisation_id = $1
        and facility_id is not distinct from $2::uuid
      group by local_system, target_system
      order by local_system, target_system`,
    values: [scope.organisationId, scope.facilityId],
  });
  return rows;
}

/** SQL of the changes of terminology maps. */
import type { Queryable } from '../../platform/db/database.ts';
import type { Slice } from '../../platform/http/paging.ts';
import type { FacilityScope } from '../../tenancy/scope.ts';
import type { Equivalence, MapEntry } from './map-entry.ts';

/** What an entry was after a change; of a deletion, what it was before. */
export interface StoredChange extends Omit<MapEntry, 'localDisplay' | 'comment'> {
  mapId: string;
  version: number;
  kind: 'created' | 'changed' | 'deleted';
  facilityId: string | null;
  changedAt: Date;
  /** Null for an operator's command. */
  changedBy: string | null;
}

/** Where a page ended: instant (the service writes milliseconds), entry, version. */
export type ChangePosition = [changedAt: string, mapId: string, version: number];

interface ChangeRow {
  map_id: string;
  version: number;
  kind: StoredChange['kind'];
  facility_id: string | null;
  local_system: string;
  local_code: string;
  target_system: string;
  target_code: string | null;
  target_display: string | null;
  equivalence: Equivalence;
  changed_at: Date;
  changed_by: string | null;
}

/** The changes of the organisation's map and of the facility's, newest first. */
export async function listChanges(
  db: Queryable,
  scope: FacilityScope,
  page: Slice<ChangePosition> & { localCode?: string | undefined },
): Promise<StoredChange[]> {
  const { rows } = await db.query<ChangeRow>({
    name: 'terminology-changes',
    text: `
      select map_id, version, kind, facility_id, local_system, local_code, target_system, target_code,
        target_display, equivalence, changed_at, changed_by
      from terminology_map_change
      where organisation_id = $1
        and (facility_id is null or facility_id = $2)
        and ($3::text is null or local_code = $3)
        and ($4::timestamptz is null
          or (changed_at, map_id, version) < ($4::timestamptz, $5::uuid, $6::int))
      order by changed_at desc, map_id desc, version desc
      limit $7`,
    values: [
      scope.organisationId,
      scope.facilityId,
      page.localCode ?? null,
      page.after?.[0] ?? null,
      page.after?.[1] ?? null,
      page.after?.[2] ?? null,
      page.limit,
    ],
  });
  return rows.map((row) => ({
    mapId: row.map_id,
    version: row.version,
    kind: row.kind,
    facilityId: row.facility_id,
    localSystem: row.local_system,
    localCode: row.local_code,
    targetSystem: row.target_system,
    targetCode: row.target_code,
    targetDisplay: row.target_display,
    equivalence: row.equivalence,
    changedAt: row.changed_at,
    changedBy: row.changed_by,
  }));
}

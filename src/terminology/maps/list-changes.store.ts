/** SQL of the changes of terminology maps. */
import type { Queryable } from '../../platform/db/database.ts';
import type { Slice } from '../../platform/http/paging.ts';
import type { FacilityScope } from '../../tenancy/scope.ts';
import type { MapEntry } from './map-entry.ts';

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

/** The changes of the organisation's map and of the facility's, newest first. */
export async function listChanges(
  db: Queryable,
  scope: FacilityScope,
  page: Slice<ChangePosition> & { localCode?: string | undefined },
): Promise<StoredChange[]> {
  const { rows } = await db.query<StoredChange>({
    name: 'terminology-changes',
    text: `
      select map_id as "mapId", version, kind, facility_id as "facilityId", local_system as "localSystem",
        local_code as "localCode", target_system as "targetSystem", target_code as "targetCode",
        target_display as "targetDisplay", equivalence, changed_at as "changedAt", changed_by as "changedBy"
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
      page.localCode,
      ...(page.after ?? [null, null, null]),
      page.limit,
    ],
  });
  return rows;
}

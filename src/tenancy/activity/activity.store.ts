/** SQL of what happened at a facility, by the hour. Contract: ADM-55, ADM-57. */
import type { Queryable } from '../../platform/db/database.ts';
import { removeOverdue } from '../organisations/retention.ts';
import type { FacilityScope, OrganisationScope } from '../scope.ts';

export interface CountedHour {
  hour: Date;
  kind: string;
  count: number;
}

/** Add to the counts, in one statement. Each facility, hour and kind at most once. */
export async function addActivity(
  db: Queryable,
  { organisationId }: OrganisationScope,
  items: readonly (CountedHour & { facilityId: string })[],
): Promise<void> {
  await db.query({
    name: 'activity-add',
    text: `
      insert into activity_hour as known (organisation_id, facility_id, hour, kind, count)
      select $1, given.*
      from unnest($2::uuid[], $3::timestamptz[], $4::text[], $5::bigint[]) as given
      order by 2, 3, 4
      on conflict (organisation_id, facility_id, hour, kind) do update
      set count = known.count + excluded.count`,
    values: [
      organisationId,
      items.map(({ facilityId }) => facilityId),
      items.map(({ hour }) => hour),
      items.map(({ kind }) => kind),
      items.map(({ count }) => count),
    ],
  });
}

/** From one hour to before another. */
export async function readActivity(
  db: Queryable,
  { organisationId, facilityId }: FacilityScope,
  { from, to }: { from: Date; to: Date },
): Promise<CountedHour[]> {
  const { rows } = await db.query<CountedHour>({
    name: 'activity-read',
    text: `
      select hour, kind, count
      from activity_hour
      where organisation_id = $1
        and facility_id = $2
        and hour >= $3
        and hour < $4`,
    values: [organisationId, facilityId, from, to],
  });
  return rows;
}

export const ACTIVITY_RETENTION = removeOverdue({
  name: 'hours of activity',
  // More than a month, so that the same weeks can be compared.
  days: 35,
  table: 'activity_hour',
  key: ['facility_id', 'hour', 'kind'],
  isOver: 't.hour < $2',
});

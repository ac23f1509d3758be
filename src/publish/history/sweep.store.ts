/** Removes what publishing no longer needs, a bounded batch of an organisation at a time. */
import type { Queryable } from '../../platform/db/database.ts';
import type { OrganisationScope } from '../../tenancy/scope.ts';

export interface SweepBatch {
  /** Publishes that were looked at. */
  looked: number;
  erased: number;
  /** Where the batch ended. */
  last: string | undefined;
}

const START = '-infinity 00000000-0000-0000-0000-000000000000';

/**
 * Look at the next publishes that began before `before`, oldest first, and erase those that a later complete
 * publish of the same record to the same server has replaced.
 */
export async function eraseReplacedRuns(
  db: Queryable,
  { organisationId }: OrganisationScope,
  { before, after = START, limit }: { before: Date; after: string | undefined; limit: number },
): Promise<SweepBatch> {
  const end = after.lastIndexOf(' ');
  const { rows } = await db.query<{ looked: number; erased: number; at: string | null; id: string | null }>({
    name: 'sweep-publish-runs',
    text: `
      with looked as materialized (
        select facility_id, id, subject_kind, subject_id, target_id, begun_at
        from publish_run
        where organisation_id = $1
          and begun_at < $2
          and (begun_at, id) > ($3::timestamptz, $4::uuid)
        order by begun_at, id
        limit $5
      ),
      erased as (
        delete from publish_run r
        using looked l
        where r.organisation_id = $1
          and r.facility_id = l.facility_id
          and r.id = l.id
          and exists (
            select 1
            from publish_run later
            where later.organisation_id = $1
              and later.facility_id = l.facility_id
              and later.subject_kind = l.subject_kind
              and later.subject_id = l.subject_id
              and later.target_id = l.target_id
              and (later.begun_at, later.id) > (l.begun_at, l.id)
              and later.outcome = 'done'
          )
        returning 1
      ),
      last as (
        select begun_at, id
        from looked
        order by begun_at desc, id desc
        limit 1
      )
      select (select count(*)::int from looked) as looked, (select count(*)::int from erased) as erased,
        (select begun_at::text from last) as at, (select id from last) as id`,
    values: [organisationId, before, after.slice(0, end), after.slice(end + 1), limit],
  });
  const { looked = 0, erased = 0, at = null, id = null } = rows[0] ?? {};
  return { looked, erased, last: at === null || id === null ? undefined : `${at} ${id}` };
}

/** Leases that were given back, or whose process died. Whoever asks for one begun before `before` has ended by now. */
export async function deleteEndedLeases(
  db: Queryable,
  { organisationId }: OrganisationScope,
  before: Date,
): Promise<void> {
  await db.query({
    name: 'sweep-publish-leases',
    text: 'delete from publish_lease where organisation_id = $1 and leased_until < $2',
    values: [organisationId, before],
  });
}

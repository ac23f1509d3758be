/** Removes what publishing no longer needs, a bounded batch at a time. Runs over every organisation. */
import type { Queryable } from '../../platform/db/database.ts';

/** Where a batch ended: `begun_at` as PostgreSQL writes it, and the id. */
export interface SweepPosition {
  at: string;
  id: string;
}

export interface SweepBatch {
  /** Publishes that were looked at. */
  looked: number;
  erased: number;
  last: SweepPosition | undefined;
}

/**
 * Look at the next publishes that began before `before`, oldest first, and erase those that a later complete
 * publish of the same record to the same server has replaced.
 */
export async function eraseReplacedRuns(
  db: Queryable,
  { before, after, limit }: { before: Date; after: SweepPosition; limit: number },
): Promise<SweepBatch> {
  const { rows } = await db.query<{ looked: number; erased: number; at: string | null; id: string | null }>({
    name: 'sweep-publish-runs',
    text: `
      with looked as materialized (
        select organisation_id, facility_id, id, subject_kind, subject_id, target_id, begun_at
        from publish_run
        where begun_at < $1
          and (begun_at, id) > ($2::timestamptz, $3::uuid)
        order by begun_at, id
        limit $4
      ),
      erased as (
        delete from publish_run r
        using looked l
        where r.organisation_id = l.organisation_id
          and r.facility_id = l.facility_id
          and r.id = l.id
          and exists (
            select 1
            from publish_run later
            where later.organisation_id = l.organisation_id
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
    values: [before, after.at, after.id, limit],
  });
  const { looked = 0, erased = 0, at = null, id = null } = rows[0] ?? {};
  return { looked, erased, last: at === null || id === null ? undefined : { at, id } };
}

/** Leases that were given back, or whose process died. Whoever asks for one begun before `before` has ended by now. */
export async function deleteEndedLeases(db: Queryable, before: Date): Promise<void> {
  await db.query({
    name: 'sweep-publish-leases',
    text: 'delete from publish_lease where leased_until < $1',
    values: [before],
  });
}

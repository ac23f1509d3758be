/** SQL that removes what publishing no longer needs (docs/adr/0057). Contract: PUB-46. */
import type { Queryable } from '../../platform/db/database.ts';
import {
  cutoff,
  type RetentionBatch,
  type RetentionRule,
  removeOverdue,
  type Swept,
} from '../../tenancy/organisations/retention.ts';
import type { OrganisationScope } from '../../tenancy/scope.ts';

/** `historyDays`: every publish stays so long. The one that says what a server holds now stays for ever. */
export function publishRetentionRules(historyDays: number): RetentionRule[] {
  return [{ name: 'publishes', days: historyDays, sweep: eraseReplacedRuns }, LEASES_RETENTION];
}

/** Leases that were given back, or whose process died. Whoever asks for one that ended so long ago has ended, too. */
const LEASES_RETENTION = removeOverdue({
  name: 'leases of publishes',
  days: 1,
  table: 'publish_lease',
  key: ['target_id', 'resource_type', 'record_id'],
  isOver: 't.leased_until < $2',
});

const START = '-infinity 00000000-0000-0000-0000-000000000000';

/**
 * Look at the next publishes that are old enough, oldest first, and erase those that a later complete publish of the same
 * record to the same server has replaced.
 */
async function eraseReplacedRuns(
  db: Queryable,
  { organisationId }: OrganisationScope,
  { after = START, limit, ...batch }: RetentionBatch,
): Promise<Swept> {
  const end = after.lastIndexOf(' ');
  const { rows } = await db.query<{ looked: number; erased: number; last: string }>({
    name: batch.dryRun ? 'count-publish-runs' : 'sweep-publish-runs',
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
        ${batch.dryRun ? 'select 1 from publish_run r cross join looked l' : 'delete from publish_run r using looked l'}
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
        ${batch.dryRun ? '' : 'returning 1'}
      )
      select (select count(*)::int from looked) as looked, (select count(*)::int from erased) as erased,
        (select begun_at::text || ' ' || id from looked order by begun_at desc, id desc limit 1) as last`,
    values: [organisationId, cutoff(batch), after.slice(0, end), after.slice(end + 1), limit],
  });
  const { looked = 0, erased = 0, last } = rows[0] ?? {};
  return { removed: erased, last: looked < limit ? undefined : last };
}

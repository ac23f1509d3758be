/** SQL that forgets local codes that were not met for long. One that is met again is counted anew. */
import type { RetentionRule } from '../../tenancy/organisations/retention.ts';

export function unmappedRetentionRule(days: number): RetentionRule {
  return {
    name: 'unmapped codes',
    days,
    sweep: async (db, { organisationId }, batch) => {
      const { rows } = await db.query<{ removed: number }>({
        text: batch.dryRun ? COUNT : REMOVE,
        values: [organisationId, batch.days, ...(batch.dryRun ? [] : [batch.limit])],
      });
      const removed = rows[0]?.removed ?? 0;
      // What is over is gone: the next batch begins where this one did.
      return { removed, last: !batch.dryRun && removed === batch.limit ? 'more' : undefined };
    },
  };
}

const OVER = `
  from terminology_unmapped
  where organisation_id = $1
    and last_met_at < now() - $2::integer * interval '1 day'`;

const COUNT = `select count(*)::integer as removed ${OVER}`;

const REMOVE = `
  with over as materialized (
    select facility_id, local_system, local_code, place
    ${OVER}
    limit $3
  ), removed as (
    delete from terminology_unmapped u
    using over o
    where u.organisation_id = $1
      and u.facility_id = o.facility_id
      and u.local_system = o.local_system
      and u.local_code = o.local_code
      and u.place = o.place
      and u.last_met_at < now() - $2::integer * interval '1 day'
    returning 1
  )
  select count(*)::integer as removed
  from removed`;

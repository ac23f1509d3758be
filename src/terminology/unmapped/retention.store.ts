/** SQL that forgets local codes that were not met for long. One that is met again is counted anew. */
import { type RetentionRule, removeOverdue } from '../../tenancy/organisations/retention.ts';

export function unmappedRetentionRule(days: number): RetentionRule {
  return removeOverdue({ name: 'unmapped codes', days, count: COUNT, remove: REMOVE });
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

/** SQL that forgets imports that began long ago. What they brought stays. Contract: ADM-51. */
import { type RetentionRule, removeOverdue } from '../../../tenancy/organisations/retention.ts';

export function importRetentionRule(days: number): RetentionRule {
  return removeOverdue({ name: 'imports', days, count: COUNT, remove: REMOVE });
}

const OVER = `
  from import_run
  where organisation_id = $1
    and started_at < now() - $2::integer * interval '1 day'`;

const COUNT = `select count(*)::integer as removed ${OVER}`;

const REMOVE = `
  with over as materialized (
    select id
    ${OVER}
    limit $3
  ), removed as (
    delete from import_run r
    using over o
    where r.organisation_id = $1
      and r.id = o.id
    returning 1
  )
  select count(*)::integer as removed
  from removed`;

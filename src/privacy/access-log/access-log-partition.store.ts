/** SQL of the months of the access log. Contract: LOG-13. */
import { ADVISORY_LOCKS } from '../../platform/db/advisory-locks.ts';
import type { Queryable } from '../../platform/db/database.ts';

/** Months that have a partition: this one and those that come. */
export const MONTHS_AHEAD = 4;

/** Make the partitions of the months from `from` on, `months` of them. Needs the owner of the schema. */
export async function makePartitions(owner: Queryable, from: Date, months: number): Promise<void> {
  for (let offset = 0; offset < months; offset += 1) {
    const start = new Date(Date.UTC(from.getUTCFullYear(), from.getUTCMonth() + offset, 1));
    const end = new Date(Date.UTC(from.getUTCFullYear(), from.getUTCMonth() + offset + 1, 1));
    await owner.query({ text: makePartition(start.toISOString(), end.toISOString()) });
  }
}

/**
 * Entries that came before their month was made are in the default partition, and move. It is locked
 * meanwhile, so that no more of them come; who writes waits for as long.
 */
function makePartition(start: string, end: string): string {
  const name = `access_log_${start.slice(0, 7).replace('-', '_')}`;
  return `
    do $$
    begin
      perform pg_advisory_xact_lock(${ADVISORY_LOCKS.accessLogPartitions});
      if to_regclass('${name}') is not null then
        return;
      end if;
      create table ${name} (like access_log including all);
      lock table access_log_default in access exclusive mode;
      with moved as (
        delete from access_log_default
        where occurred_at >= '${start}'
          and occurred_at < '${end}'
        returning *
      )
      insert into ${name}
      select * from moved;
      alter table access_log attach partition ${name} for values from ('${start}') to ('${end}');
    end $$`;
}

/**
 * SQL of archiving months of the access log. The role of the service reads the records of archived months; all else is
 * for the owner of the schema.
 */
import { ADVISORY_LOCKS } from '../../platform/db/advisory-locks.ts';
import { type Client, type Pool, type Queryable, transaction } from '../../platform/db/database.ts';
import type { HashedEntry } from '../access-log/access-log.store.ts';
import { ENTRY_COLUMNS } from '../access-log/access-log-chain.store.ts';
import {
  type ArchivedRun,
  type ArchiveManifest,
  type ReadChainKeys,
  sealManifest,
} from './archive-manifest.ts';

const PAGE = 5_000;

export async function listArchives(db: Queryable): Promise<ArchiveManifest[]> {
  const { rows } = await db.query<{ manifest: ArchiveManifest }>({
    text: 'select manifest from access_log_archive order by month, part',
  });
  return rows.map(({ manifest }) => manifest);
}

/** With another seal in place of the one that each has. Needs the owner of the schema. */
export async function replaceArchiveSeals(
  owner: Queryable,
  manifests: readonly ArchiveManifest[],
): Promise<void> {
  await owner.query({
    text: `
      update access_log_archive a
      set manifest = jsonb_set(a.manifest, '{seal}', m.seal)
      from jsonb_to_recordset($1::jsonb) as m(month text, part integer, seal jsonb)
      where a.month = m.month
        and a.part = m.part`,
    values: [JSON.stringify(manifests)],
  });
}

/** The newest month that was archived, `YYYY-MM`; undefined when none was. */
export async function newestArchivedMonth(db: Queryable): Promise<string | undefined> {
  const { rows } = await db.query<{ month: string | null }>({
    name: 'access-log-newest-archive',
    text: 'select max(month) as month from access_log_archive',
  });
  return rows[0]?.month ?? undefined;
}

/** Months before `before` (both `YYYY-MM`) that have a partition, or entries in the default one, oldest first. */
export async function monthsBefore(owner: Queryable, before: string): Promise<string[]> {
  const { rows } = await owner.query<{ month: string }>({
    text: `
      select replace(substring(c.relname from 12), '_', '-') as month
      from pg_inherits i
      join pg_class c
        on c.oid = i.inhrelid
      where i.inhparent = 'access_log'::regclass
        and c.relname ~ '^access_log_\\d{4}_\\d{2}$'
      union
      select distinct to_char(occurred_at at time zone 'UTC', 'YYYY-MM')
      from access_log_default
      order by month`,
  });
  return rows.map(({ month }) => month).filter((month) => month < before);
}

/** Entries of a month, wherever they are. */
export async function countMonth(owner: Queryable, month: string): Promise<number> {
  const { rows } = await owner.query<{ entries: number }>({
    text: `
      select count(*) as entries
      from access_log
      where occurred_at >= $1::timestamptz
        and occurred_at < $1::timestamptz + interval '1 month'`,
    values: [`${month}-01T00:00:00Z`],
  });
  return rows[0]?.entries ?? 0;
}

/** The entries of a month's partition, in the order of writers and sequence numbers. */
export async function* readPartition(owner: Queryable, month: string): AsyncIterable<HashedEntry> {
  let after: readonly [string, number] = ['00000000-0000-0000-0000-000000000000', 0];
  for (;;) {
    const { rows } = await owner.query<HashedEntry>({
      text: `
        select ${ENTRY_COLUMNS}
        from ${partitionOf(month)}
        where (writer_id, sequence) > ($1::uuid, $2::bigint)
        order by writer_id, sequence
        limit $3`,
      values: [...after, PAGE],
    });
    yield* rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE) return;
    after = [last.writerId, last.sequence];
  }
}

/**
 * The first of the runs that does not join its chain: what comes before it and after it must be in the log, in an
 * archive, or be the beginning or the head of the chain, with the hashes that the run has there.
 */
export async function findLooseRun(
  owner: Queryable,
  runs: readonly ArchivedRun[],
): Promise<{ writerId: string; sequence: number } | undefined> {
  const { rows } = await owner.query<{ writerId: string; sequence: number }>({
    text: `
      with run as (
        select *
        from jsonb_to_recordset($1::jsonb) as r(
          "writerId" uuid, "firstSequence" bigint, "lastSequence" bigint, "previousHash" text, "lastHash" text)
      ), archived as materialized (
        select r.*
        from access_log_archive a, jsonb_to_recordset(a.manifest -> 'runs') as r(
          "writerId" uuid, "firstSequence" bigint, "lastSequence" bigint, "previousHash" text, "lastHash" text)
      )
      select r."writerId", r."firstSequence" as sequence
      from run r
      left join access_log_writer w
        on w.id = r."writerId"
      left join access_log before
        on before.writer_id = r."writerId"
        and before.sequence = r."firstSequence" - 1
      left join archived archived_before
        on archived_before."writerId" = r."writerId"
        and archived_before."lastSequence" = r."firstSequence" - 1
      left join access_log after
        on after.writer_id = r."writerId"
        and after.sequence = r."lastSequence" + 1
      left join archived archived_after
        on archived_after."writerId" = r."writerId"
        and archived_after."firstSequence" = r."lastSequence" + 1
      where decode(r."previousHash", 'hex') is distinct from case
          when r."firstSequence" = 1 then w.genesis_hash
          else coalesce(before.hash, decode(archived_before."lastHash", 'hex'))
        end
        or decode(r."lastHash", 'hex') is distinct from case
          when r."lastSequence" = w.last_sequence then w.last_hash
          else coalesce(after.previous_hash, decode(archived_after."previousHash", 'hex'))
        end
      limit 1`,
    values: [JSON.stringify(runs)],
  });
  return rows[0];
}

/** Of how many parts a month was archived in so far. */
export async function countParts(owner: Queryable, month: string): Promise<number> {
  const { rows } = await owner.query<{ parts: number }>({
    text: 'select count(*) as parts from access_log_archive where month = $1',
    values: [month],
  });
  return rows[0]?.parts ?? 0;
}

/**
 * Keep the manifest and take the partition out of the log, in one transaction. Nobody writes to the partition
 * meanwhile. False, and nothing done, when it does not hold exactly the entries of the manifest.
 */
export async function removeMonth(
  owner: Pool,
  readKeys: ReadChainKeys,
  { manifest, keepDetached }: { manifest: ArchiveManifest; keepDetached: boolean },
): Promise<boolean> {
  const { month, part, entries } = manifest;
  const partition = partitionOf(month);
  return transaction(owner, async (client) => {
    await client.query(`set local lock_timeout = '1s'`);
    // A rotation of the master key waits for this transaction from here on. One that ended since the file was sealed made
    // another newest key.
    const sealed = sealManifest(await readKeys(client), manifest);
    await client.query('select pg_advisory_xact_lock($1)', [ADVISORY_LOCKS.accessLogPartitions]);
    // Who reads or writes the log waits for as long as this transaction takes, so the log is locked last.
    await client.query(`lock table ${partition} in share mode`);
    if (!(await holdsExactly(client, partition, entries))) return false;
    await client.query(
      'insert into access_log_archive (month, part, manifest, archived_at) values ($1, $2, $3, now())',
      [month, part, JSON.stringify(sealed)],
    );
    await client.query(`alter table access_log detach partition ${partition}`);
    await client.query(
      keepDetached
        ? `alter table ${partition} rename to access_log_archived_${month.replace('-', '_')}_${part}`
        : `drop table ${partition}`,
    );
    return true;
  });
}

/** Times are written to the millisecond: a finer one is not what was hashed. */
async function holdsExactly(client: Client, partition: string, entries: number): Promise<boolean> {
  const { rows } = await client.query<{ entries: number; finer_times: boolean }>(`
    select
      count(*) as entries,
      coalesce(bool_or(occurred_at <> date_trunc('milliseconds', occurred_at)), false) as finer_times
    from ${partition}`);
  return rows[0]?.entries === entries && !rows[0].finer_times;
}

function partitionOf(month: string): string {
  return `access_log_${month.replace('-', '_')}`;
}

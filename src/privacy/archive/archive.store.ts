/**
 * SQL of archiving months of the access log. The role of the service reads the records of archived months; all else is
 * for the owner of the schema.
 */
import { ADVISORY_LOCKS } from '../../platform/db/advisory-locks.ts';
import { type Client, type Pool, type Queryable, transaction } from '../../platform/db/database.ts';
import type { HashedEntry } from '../access-log/access-log.store.ts';
import { listWriters } from '../access-log/access-log-chain.store.ts';
import { placeOf } from '../access-log/hash-chain.ts';
import { organisationsOfLog } from '../verification/log-organisations.store.ts';
import { mergedEntries } from '../verification/merged-entries.ts';
import {
  type ArchivedRun,
  type ArchiveManifest,
  type ReadChainKeys,
  sealManifest,
} from './archive-manifest.ts';

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

/** The instant after the newest month that was archived; null while none was. Older entries are in the operator's files. */
export async function readKeptFrom(db: Queryable): Promise<string | null> {
  const { rows } = await db.query<{ keptFrom: string | null }>({
    name: 'access-log-kept-from',
    text: `
      select to_char(to_date(max(month), 'YYYY-MM') + interval '1 month', 'YYYY-MM-DD"T00:00:00Z"') as "keptFrom"
      from access_log_archive`,
  });
  return rows[0]?.keptFrom ?? null;
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
        and c.relname ~ '^access_log_\\d{4}_\\d{2}$'`,
  });
  const early = await ofEachOrganisation<{ month: string }>(owner, 'access_log_default', {
    text: `
      select distinct to_char(occurred_at at time zone 'UTC', 'YYYY-MM') as month
      from access_log_default
      where organisation_id = $1`,
  });
  const months = new Set([...rows, ...early].map(({ month }) => month));
  return [...months].filter((month) => month < before).sort();
}

/** Entries of a month, wherever they are. */
export async function countMonth(owner: Queryable, month: string): Promise<number> {
  const counts = await ofEachOrganisation<{ entries: number }>(owner, 'access_log', {
    text: `
      select count(*) as entries
      from access_log
      where organisation_id = $1
        and occurred_at >= $2::timestamptz
        and occurred_at < $2::timestamptz + interval '1 month'`,
    values: [`${month}-01T00:00:00Z`],
  });
  return sumOf(counts);
}

/** The rows that a statement finds for the organisations of a table, one after the other; `$1` is the organisation. */
async function ofEachOrganisation<Row extends object>(
  owner: Queryable,
  table: string,
  { text, values = [] }: { text: string; values?: unknown[] },
): Promise<Row[]> {
  const found: Row[] = [];
  for (const organisationId of await organisationsOfLog(owner, table)) {
    const { rows } = await owner.query<Row>({ text, values: [organisationId, ...values] });
    found.push(...rows);
  }
  return found;
}

function sumOf(counts: readonly { entries: number }[]): number {
  return counts.reduce((sum, { entries }) => sum + entries, 0);
}

/** The entries of a month's partition, in the order of writers and sequence numbers. */
export async function* readPartition(owner: Queryable, month: string): AsyncIterable<HashedEntry> {
  const entries = mergedEntries(owner, {
    table: partitionOf(month),
    organisationIds: await organisationsOfLog(owner, partitionOf(month)),
    // A month leaves the log whole or not at all.
    onUnread(_organisationId, error) {
      throw error;
    },
  });
  for await (const { finerTime: _, occurredText: __, ...entry } of entries) yield entry;
}

/** An entry beside a run, by its writer and number. */
interface Neighbour {
  writerId: string;
  sequence: number;
  hash: Buffer;
  previousHash: Buffer;
}

/**
 * The first of the runs that does not join its chain: what comes before it and after it must be in the log, in an
 * archive, or be the beginning or the head of the chain, with the hashes that the run has there.
 */
export async function findLooseRun(
  owner: Queryable,
  runs: readonly ArchivedRun[],
): Promise<{ writerId: string; sequence: number } | undefined> {
  const writers = new Map((await listWriters(owner)).map((writer) => [writer.id, writer]));
  const archived = (await listArchives(owner)).flatMap((manifest) => manifest.runs);
  const ending = new Map(archived.map((run) => [placeOf(run.writerId, run.lastSequence), run.lastHash]));
  const beginning = new Map(
    archived.map((run) => [placeOf(run.writerId, run.firstSequence), run.previousHash]),
  );
  const beside = await neighbours(owner, runs);
  const loose = runs.find((run) => {
    const { writerId, firstSequence, lastSequence } = run;
    const writer = writers.get(writerId);
    const before = placeOf(writerId, firstSequence - 1);
    const after = placeOf(writerId, lastSequence + 1);
    const joinsBefore =
      firstSequence === 1 ? hex(writer?.genesisHash) : (hex(beside.get(before)?.hash) ?? ending.get(before));
    const joinsAfter =
      lastSequence === writer?.lastSequence
        ? hex(writer.lastHash)
        : (hex(beside.get(after)?.previousHash) ?? beginning.get(after));
    return run.previousHash !== joinsBefore || run.lastHash !== joinsAfter;
  });
  return loose === undefined ? undefined : { writerId: loose.writerId, sequence: loose.firstSequence };
}

/** The entries of the log just before and after the runs, by their places. */
async function neighbours(owner: Queryable, runs: readonly ArchivedRun[]): Promise<Map<string, Neighbour>> {
  const places = runs.flatMap(({ writerId, firstSequence, lastSequence }) => [
    { writerId, sequence: firstSequence - 1 },
    { writerId, sequence: lastSequence + 1 },
  ]);
  const found = await ofEachOrganisation<Neighbour>(owner, 'access_log', {
    text: `
      select l.writer_id as "writerId", l.sequence, l.hash, l.previous_hash as "previousHash"
      from unnest($2::uuid[], $3::bigint[]) n (writer_id, sequence)
      join access_log l
        on l.organisation_id = $1
        and l.writer_id = n.writer_id
        and l.sequence = n.sequence`,
    values: [places.map(({ writerId }) => writerId), places.map(({ sequence }) => sequence)],
  });
  return new Map(found.map((entry) => [placeOf(entry.writerId, entry.sequence), entry]));
}

function hex(hash: Buffer | undefined): string | undefined {
  return hash?.toString('hex');
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
  const held = await ofEachOrganisation<{ entries: number; finerTimes: boolean }>(client, partition, {
    text: `
      select count(*) as entries,
        coalesce(bool_or(occurred_at <> date_trunc('milliseconds', occurred_at)), false) as "finerTimes"
      from ${partition}
      where organisation_id = $1`,
  });
  return sumOf(held) === entries && held.every(({ finerTimes }) => !finerTimes);
}

function partitionOf(month: string): string {
  return `access_log_${month.replace('-', '_')}`;
}

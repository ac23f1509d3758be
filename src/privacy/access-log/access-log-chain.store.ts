/** SQL of reading the chains of the access log back, for verification. Contract: LOG-17. */
import type { Queryable } from '../../platform/db/database.ts';
import type { OrganisationScope } from '../../tenancy/scope.ts';
import type { HashedEntry, WriterRow } from './access-log.store.ts';

/** A writer as verification sees it. */
export interface ListedWriter extends WriterRow {
  /** True when the time is finer than a millisecond. The writer hashes and writes milliseconds, so it was changed. */
  finerTime: boolean;
}

/** In order of their numbers. With `lock`, no head moves before the transaction ends. */
export async function listWriters(db: Queryable, { lock = false } = {}): Promise<ListedWriter[]> {
  const { rows } = await db.query<ListedWriter>({
    text: `
      select id, number, started_at as "startedAt", genesis_hash as "genesisHash", last_sequence as "lastSequence",
        last_hash as "lastHash", head_seal as "headSeal",
        started_at <> date_trunc('milliseconds', started_at) as "finerTime"
      from access_log_writer
      order by number ${lock ? 'for update' : ''}`,
  });
  return rows;
}

/** How many writers were registered, with the seal of that; undefined when none ever was. */
export async function readRegistry(db: Queryable): Promise<{ lastNumber: number; seal: Buffer } | undefined> {
  const { rows } = await db.query<{ lastNumber: number; seal: Buffer }>({
    text: 'select last_number as "lastNumber", seal from access_log_registry',
  });
  return rows[0];
}

/** The columns of a {@link HashedEntry}. */
const ENTRY_COLUMNS = `organisation_id as "organisationId", occurred_at as "occurredAt", writer_id as "writerId",
  sequence, facility_id as "facilityId", patient_id as "patientId", account_id as "accountId", action,
  resource_type as "resourceType", resource_id as "resourceId", purpose_of_use as "purposeOfUse", outcome,
  correlation_id as "correlationId", previous_hash as "previousHash", hash`;

/** An entry as it is read back. */
export interface ReadEntry extends HashedEntry {
  /** As of a {@link ListedWriter}. */
  finerTime: boolean;
  /** The time as PostgreSQL writes it. */
  occurredText: string;
}

export interface EntriesWanted {
  /** The log, or the table of one of its months. */
  table: string;
  /** Of these writers alone. */
  writerIds?: readonly string[];
}

/** Up to `limit` entries of one organisation after another one, in the order of writers and sequence numbers. */
export async function readEntries(
  db: Queryable,
  { organisationId }: OrganisationScope,
  { table, writerIds, after, limit }: EntriesWanted & { after: ReadEntry | undefined; limit: number },
): Promise<ReadEntry[]> {
  const { rows } = await db.query<ReadEntry>({
    text: `
      select ${ENTRY_COLUMNS}, occurred_at <> date_trunc('milliseconds', occurred_at) as "finerTime",
        occurred_at::text as "occurredText"
      from ${table}
      where organisation_id = $1
        and ($3::uuid[] is null or writer_id = any($3))
        ${after === undefined ? '' : 'and (writer_id, sequence, occurred_at) > ($4::uuid, $5::bigint, $6::timestamptz)'}
      order by writer_id, sequence, occurred_at
      limit $2`,
    values: [
      organisationId,
      limit,
      writerIds ?? null,
      ...(after === undefined ? [] : [after.writerId, after.sequence, after.occurredText]),
    ],
  });
  return rows;
}

export async function replaceRegistrySeal(db: Queryable, seal: Buffer): Promise<void> {
  await db.query({ text: 'update access_log_registry set seal = $1', values: [seal] });
}

export async function replaceHeadSeals(
  db: Queryable,
  heads: readonly { id: string; seal: Buffer }[],
): Promise<void> {
  await db.query({
    text: `
      update access_log_writer w
      set head_seal = h.seal
      from unnest($1::uuid[], $2::bytea[]) h (id, seal)
      where w.id = h.id`,
    values: [heads.map(({ id }) => id), heads.map(({ seal }) => seal)],
  });
}

/** SQL of reading the chains of the access log back, for verification. Contract: LOG-17. */
import type { Queryable } from '../../platform/db/database.ts';
import type { HashedEntry, WriterRow } from './access-log.store.ts';

/** In order of their numbers. With `lock`, no head moves before the transaction ends. */
export async function listWriters(db: Queryable, { lock = false } = {}): Promise<WriterRow[]> {
  const { rows } = await db.query<{
    id: string;
    number: number;
    started_at: Date;
    genesis_hash: Buffer;
    last_sequence: number;
    last_hash: Buffer;
    head_seal: Buffer;
  }>({ text: `select * from access_log_writer order by number ${lock ? 'for update' : ''}` });
  return rows.map((row) => ({
    id: row.id,
    number: row.number,
    startedAt: row.started_at,
    genesisHash: row.genesis_hash,
    lastSequence: row.last_sequence,
    lastHash: row.last_hash,
    headSeal: row.head_seal,
  }));
}

/** How many writers were registered, with the seal of that; undefined when none ever was. */
export async function readRegistry(db: Queryable): Promise<{ lastNumber: number; seal: Buffer } | undefined> {
  const { rows } = await db.query<{ last_number: number; seal: Buffer }>({
    text: 'select last_number, seal from access_log_registry',
  });
  const row = rows[0];
  return row && { lastNumber: row.last_number, seal: row.seal };
}

export interface EntryRow {
  organisation_id: string;
  occurred_at: Date;
  writer_id: string;
  sequence: number;
  facility_id: string;
  patient_id: string;
  account_id: string;
  action: string;
  resource_type: string;
  resource_id: string | null;
  purpose_of_use: HashedEntry['purposeOfUse'];
  outcome: HashedEntry['outcome'];
  correlation_id: string;
  previous_hash: Buffer;
  hash: Buffer;
}

/** Up to `limit` entries of one writer after a sequence number, in order. */
export async function readChain(
  db: Queryable,
  writerId: string,
  after: { sequence: number; limit: number },
): Promise<HashedEntry[]> {
  const { rows } = await db.query<EntryRow>({
    name: 'access-log-chain',
    text: `
      select *
      from access_log
      where writer_id = $1
        and sequence > $2
      order by sequence
      limit $3`,
    values: [writerId, after.sequence, after.limit],
  });
  return rows.map(toHashedEntry);
}

export function toHashedEntry(row: EntryRow): HashedEntry {
  return {
    organisationId: row.organisation_id,
    occurredAt: row.occurred_at,
    writerId: row.writer_id,
    sequence: row.sequence,
    facilityId: row.facility_id,
    patientId: row.patient_id,
    accountId: row.account_id,
    action: row.action,
    resourceType: row.resource_type,
    resourceId: row.resource_id,
    purposeOfUse: row.purpose_of_use,
    outcome: row.outcome,
    correlationId: row.correlation_id,
    previousHash: row.previous_hash,
    hash: row.hash,
  };
}

/** Writers whose entries exist but which are not registered: someone removed the registration. */
export async function unregisteredWriters(db: Queryable): Promise<string[]> {
  const { rows } = await db.query<{ writer_id: string }>({
    text: `
      select distinct l.writer_id
      from access_log l
      where not exists (select from access_log_writer w where w.id = l.writer_id)`,
  });
  return rows.map((row) => row.writer_id);
}

/** What the chain walk does not see of one writer, in one snapshot. */
export interface WriterTotals {
  entries: number;
  lastSequence: number;
  /** True when a time is finer than a millisecond. The writer hashes and writes milliseconds, so it was changed. */
  finerTimes: boolean;
}

export async function readTotals(db: Queryable, writerId: string): Promise<WriterTotals | undefined> {
  const { rows } = await db.query<{ entries: number; last_sequence: number; finer_times: boolean }>({
    name: 'access-log-totals',
    text: `
      select
        w.last_sequence,
        count(l.sequence) as entries,
        coalesce(bool_or(l.occurred_at <> date_trunc('milliseconds', l.occurred_at)), false)
          or w.started_at <> date_trunc('milliseconds', w.started_at) as finer_times
      from access_log_writer w
      left join access_log l
        on l.writer_id = w.id
      where w.id = $1
      group by w.id`,
    values: [writerId],
  });
  const row = rows[0];
  return row && { entries: row.entries, lastSequence: row.last_sequence, finerTimes: row.finer_times };
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

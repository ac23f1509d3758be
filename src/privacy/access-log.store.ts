/** SQL of the access log: registering a writer, appending, making months, reading chains back. */
import type { Queryable } from '../platform/db/database.ts';
import type { ChainedEntry } from './hash-chain.ts';

/** Serialises the numbering of writers. */
const WRITER_LOCK = 7_246_318_002;

export interface HashedEntry extends ChainedEntry {
  previousHash: Buffer;
  hash: Buffer;
}

export interface ChainHead {
  sequence: number;
  hash: Buffer;
  seal: Buffer;
}

export interface WriterRow {
  id: string;
  number: number;
  startedAt: Date;
  genesisHash: Buffer;
  lastSequence: number;
  lastHash: Buffer;
  headSeal: Buffer;
}

/** The next writer number. Call inside a transaction: it holds the numbering until the end of it. */
export async function nextWriterNumber(db: Queryable): Promise<number> {
  await db.query({ text: 'select pg_advisory_xact_lock($1)', values: [WRITER_LOCK] });
  const { rows } = await db.query<{ number: number }>({
    text: 'select coalesce(max(number), 0) + 1 as number from access_log_writer',
  });
  return rows[0]?.number ?? 1;
}

export async function insertWriter(db: Queryable, writer: WriterRow): Promise<void> {
  await db.query({
    text: `
      insert into access_log_writer (id, number, started_at, genesis_hash, last_sequence, last_hash, head_seal)
      values ($1, $2, $3, $4, $5, $6, $7)`,
    values: [
      writer.id,
      writer.number,
      writer.startedAt,
      writer.genesisHash,
      writer.lastSequence,
      writer.lastHash,
      writer.headSeal,
    ],
  });
}

/**
 * Append entries and move the writer's head, in one statement and one round trip. Returns false when the
 * head was not where the writer left it; nothing is written then.
 */
export async function appendEntries(
  db: Queryable,
  entries: readonly HashedEntry[],
  move: { writerId: string; fromSequence: number; to: ChainHead },
): Promise<boolean> {
  const column = <T>(read: (entry: HashedEntry) => T): T[] => entries.map(read);
  const { rowCount } = await db.query({
    name: 'access-log-append',
    text: `
      with head as (
        update access_log_writer
        set last_sequence = $3, last_hash = $4, head_seal = $5
        where id = $1
          and last_sequence = $2
        returning id
      )
      insert into access_log (
        writer_id, organisation_id, occurred_at, sequence, facility_id, patient_id, account_id,
        action, resource_type, resource_id, purpose_of_use, outcome, correlation_id, previous_hash, hash
      )
      select head.id, e.*
      from head, unnest(
        $6::uuid[], $7::timestamptz[], $8::bigint[], $9::uuid[], $10::uuid[], $11::uuid[],
        $12::text[], $13::text[], $14::uuid[], $15::text[], $16::text[], $17::text[], $18::bytea[], $19::bytea[]
      ) e`,
    values: [
      move.writerId,
      move.fromSequence,
      move.to.sequence,
      move.to.hash,
      move.to.seal,
      column((e) => e.organisationId),
      column((e) => e.occurredAt.toISOString()),
      column((e) => e.sequence),
      column((e) => e.facilityId),
      column((e) => e.patientId),
      column((e) => e.accountId),
      column((e) => e.action),
      column((e) => e.resourceType),
      column((e) => e.resourceId),
      column((e) => e.purposeOfUse),
      column((e) => e.outcome),
      column((e) => e.correlationId),
      column((e) => e.previousHash),
      column((e) => e.hash),
    ],
  });
  return rowCount === entries.length;
}

/** Make the partitions of the months from `from` on, `months` of them. Needs the owner of the schema. */
export async function makePartitions(owner: Queryable, from: Date, months: number): Promise<void> {
  for (let offset = 0; offset < months; offset += 1) {
    const start = new Date(Date.UTC(from.getUTCFullYear(), from.getUTCMonth() + offset, 1));
    const end = new Date(Date.UTC(from.getUTCFullYear(), from.getUTCMonth() + offset + 1, 1));
    const name = `access_log_${start.toISOString().slice(0, 7).replace('-', '_')}`;
    await owner.query({
      text: `
        create table if not exists ${name}
        partition of access_log for values from ('${start.toISOString()}') to ('${end.toISOString()}')`,
    });
  }
}

export async function listWriters(db: Queryable): Promise<WriterRow[]> {
  const { rows } = await db.query<{
    id: string;
    number: number;
    started_at: Date;
    genesis_hash: Buffer;
    last_sequence: number;
    last_hash: Buffer;
    head_seal: Buffer;
  }>({ text: 'select * from access_log_writer order by number' });
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

/** Up to `limit` entries of one writer after a sequence number, in order. */
export async function readChain(
  db: Queryable,
  writerId: string,
  after: { sequence: number; limit: number },
): Promise<HashedEntry[]> {
  const { rows } = await db.query<{
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
  }>({
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
  return rows.map((row) => ({
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
  }));
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

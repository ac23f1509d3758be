/** SQL of the access log: registering a writer, and appending. */
import { ADVISORY_LOCKS } from '../../platform/db/advisory-locks.ts';
import type { Queryable } from '../../platform/db/database.ts';
import type { ChainedEntry } from './hash-chain.ts';

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

/**
 * The next writer number; the registry keeps it with its seal. Call inside a transaction: it holds the
 * numbering until the end of it.
 */
export async function nextWriterNumber(db: Queryable, seal: (number: number) => Buffer): Promise<number> {
  await db.query({ text: 'select pg_advisory_xact_lock($1)', values: [ADVISORY_LOCKS.accessLogWriters] });
  const { rows } = await db.query<{ last_number: number }>({
    text: 'select last_number from access_log_registry',
  });
  const number = (rows[0]?.last_number ?? 0) + 1;
  await db.query({
    text: `
      insert into access_log_registry (single_row, last_number, seal)
      values (true, $1, $2)
      on conflict (single_row) do update
      set last_number = excluded.last_number, seal = excluded.seal`,
    values: [number, seal(number)],
  });
  return number;
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

/** The seal on the head of a chain; undefined when its writer is not registered. */
export async function readHeadSeal(db: Queryable, writerId: string): Promise<Buffer | undefined> {
  const { rows } = await db.query<{ head_seal: Buffer }>({
    text: 'select head_seal from access_log_writer where id = $1',
    values: [writerId],
  });
  return rows[0]?.head_seal;
}

/**
 * Append entries, and move the writer's head, in one statement and one round trip. The entries are of one organisation and one
 * instant, and follow each other in the chain. Returns false when the head is not as the writer left it, the seal included;
 * nothing is written then.
 */
export async function appendEntries(
  db: Queryable,
  entries: readonly HashedEntry[],
  move: { writerId: string; from: Pick<ChainHead, 'sequence' | 'seal'>; to: ChainHead },
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
          and head_seal = $19
        returning id
      )
      insert into access_log (
        writer_id, organisation_id, occurred_at, sequence, facility_id, patient_id, account_id,
        action, resource_type, resource_id, purpose_of_use, outcome, correlation_id, previous_hash, hash
      )
      select head.id, $6, $7, $2 + e.place, e.facility_id, e.patient_id, e.account_id, e.action, e.resource_type,
        e.resource_id, e.purpose_of_use, e.outcome, e.correlation_id, e.previous_hash, e.hash
      from head, unnest(
        $8::uuid[], $9::uuid[], $10::uuid[], $11::text[], $12::text[], $13::uuid[], $14::text[], $15::text[], $16::text[],
        $17::bytea || $18::bytea[], $18::bytea[]
      ) with ordinality e (
        facility_id, patient_id, account_id, action, resource_type, resource_id, purpose_of_use, outcome, correlation_id,
        previous_hash, hash, place
      )
      -- The hashes before begin with one more, so they are one longer: no entry follows the last one.
      where e.hash is not null`,
    values: [
      move.writerId,
      move.from.sequence,
      move.to.sequence,
      move.to.hash,
      move.to.seal,
      entries[0]?.organisationId,
      entries[0]?.occurredAt.toISOString(),
      column((e) => e.facilityId),
      column((e) => e.patientId),
      column((e) => e.accountId),
      column((e) => e.action),
      column((e) => e.resourceType),
      column((e) => e.resourceId),
      column((e) => e.purposeOfUse),
      column((e) => e.outcome),
      column((e) => e.correlationId),
      entries[0]?.previousHash,
      column((e) => e.hash),
      move.from.seal,
    ],
  });
  return rowCount === entries.length;
}

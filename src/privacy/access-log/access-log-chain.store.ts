/** SQL of reading the chains of the access log back, for verification. Contract: LOG-17. */
import type { Queryable } from '../../platform/db/database.ts';
import type { HashedEntry, WriterRow } from './access-log.store.ts';

/** In order of their numbers. With `lock`, no head moves before the transaction ends. */
export async function listWriters(db: Queryable, { lock = false } = {}): Promise<WriterRow[]> {
  const { rows } = await db.query<WriterRow>({
    text: `
      select id, number, started_at as "startedAt", genesis_hash as "genesisHash", last_sequence as "lastSequence",
        last_hash as "lastHash", head_seal as "headSeal"
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
export const ENTRY_COLUMNS = `organisation_id as "organisationId", occurred_at as "occurredAt", writer_id as "writerId",
  sequence, facility_id as "facilityId", patient_id as "patientId", account_id as "accountId", action,
  resource_type as "resourceType", resource_id as "resourceId", purpose_of_use as "purposeOfUse", outcome,
  correlation_id as "correlationId", previous_hash as "previousHash", hash`;

/** Up to `limit` entries of one writer after a sequence number, in order. */
export async function readChain(
  db: Queryable,
  writerId: string,
  after: { sequence: number; limit: number },
): Promise<HashedEntry[]> {
  const { rows } = await db.query<HashedEntry>({
    name: 'access-log-chain',
    text: `
      select ${ENTRY_COLUMNS}
      from access_log
      where writer_id = $1
        and sequence > $2
      order by sequence
      limit $3`,
    values: [writerId, after.sequence, after.limit],
  });
  return rows;
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
  const { rows } = await db.query<WriterTotals>({
    name: 'access-log-totals',
    text: `
      select
        count(l.sequence) as entries,
        w.last_sequence as "lastSequence",
        coalesce(bool_or(l.occurred_at <> date_trunc('milliseconds', l.occurred_at)), false)
          or w.started_at <> date_trunc('milliseconds', w.started_at) as "finerTimes"
      from access_log_writer w
      left join access_log l
        on l.writer_id = w.id
      where w.id = $1
      group by w.id`,
    values: [writerId],
  });
  return rows[0];
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

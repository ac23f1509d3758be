/**
 * SQL of lanes: leasing what is due and writing down how it went (docs/adr/0020).
 *
 * Each statement names one organisation and one connection, so that on a distributed database it runs on one shard.
 * The clock is the database's, because workers on several machines share it.
 * Contract: EXC-13, EXC-14, EXC-15.
 */
import type { Queryable } from '../../platform/db/database.ts';
import { coveredNow, moduleOn } from './covers.ts';

export interface ConnectionKey {
  organisationId: string;
  connectionId: string;
}

/** The delivery that is next in a lane, leased to one worker. */
export interface LeasedDelivery {
  patientId: string;
  sequence: number;
  /** Tries so far that count. */
  attempts: number;
  deliveryId: string;
  facilityId: string;
  /** The envelope, to be sent as it is. Null where those that are due earlier have {@link LEASE_BYTES} already. */
  body: string | null;
  refusedPurposes: string[];
  /** The exchange module is on for the facility. */
  moduleOn: boolean;
  /** The connection covers the facility, now. */
  covered: boolean;
}

export interface LaneLease {
  token: string;
  durationMs: number;
  /** Lanes at most. */
  limit: number;
}

/** How a try ended, and what becomes of the head of its lane. */
export interface DeliveryResult {
  patientId: string;
  sequence: number;
  leaseToken: string;
  next: { kind: 'advance' } | { kind: 'retry'; afterMs: number } | { kind: 'hold'; reason: string };
  /** Null when there was none, or when it is in the ledger already. */
  attempt: DeliveryAttempt | null;
  counted: boolean;
}

export interface DeliveryAttempt {
  nonce: string;
  startedAt: Date;
  durationMs: number;
  outcome: 'delivered' | 'failed' | 'refused' | 'withheld' | 'unsent';
  status: number | null;
  failure: string | null;
  responseHash: Buffer | null;
}

/** A lease brings envelopes until they have so many bytes together: one patient may have several megabytes. */
export const LEASE_BYTES = 16 * 1024 ** 2;

// Rows are addressed by arrays of keys and by lateral reads of one row: a join would leave the planner the choice of
// reading every waiting lane of the connection, which it takes while it has no statistics (docs/adr/0020).
const LEASE = `
  leased as (
    update exchange_head h
    set lease_token = $4,
        leased_until = now() + $5::integer * interval '1 millisecond'
    where h.organisation_id = $1
      and h.connection_id = $2
      and h.patient_id = any(array(select patient_id from due))
    returning h.patient_id, h.sequence, h.attempts, h.due_at
  )
  select l.patient_id as "patientId", l.sequence, l.attempts, d.id as "deliveryId", d.facility_id as "facilityId",
    case
      when sum(octet_length(d.body)) over (order by l.due_at, l.patient_id) - octet_length(d.body) < ${LEASE_BYTES}
      then d.body
    end as body,
    p.refused_purposes as "refusedPurposes",
    ${moduleOn('d.facility_id')} as "moduleOn",
    ${coveredNow('d.facility_id')} as covered
  from leased l
  cross join lateral (
    select id, facility_id, body
    from exchange_delivery d
    where d.organisation_id = $1
      and d.connection_id = $2
      and d.patient_id = l.patient_id
      and d.sequence = l.sequence
    limit 1
  ) d
  cross join lateral (
    select refused_purposes
    from patient p
    where p.organisation_id = $1
      and p.id = l.patient_id
    limit 1
  ) p`;

/** Lanes of an enabled connection that are due and that no other statement has locked. `$3` at most. */
function dueLanes(condition = ''): string {
  return `
    select patient_id
    from exchange_head
    where organisation_id = $1
      and connection_id = $2
      and due_at <= now()
      and leased_until <= now()
      and exists (
        select from exchange_connection
        where organisation_id = $1
          and id = $2
          and disabled_at is null
      )
      ${condition}
    order by due_at
    limit $3
    for update skip locked`;
}

const LEASE_DUE = `
  with due as (${dueLanes(`and not exists (
    select from exchange_circuit
    where organisation_id = $1
      and connection_id = $2
      and opened_at is not null
  )`)}), ${LEASE}`;

const LEASE_PROBE = `
  with candidate as (${dueLanes()}), probe as (
    update exchange_circuit
    set probe_at = now() + $5::integer * interval '1 millisecond'
    where organisation_id = $1
      and connection_id = $2
      and opened_at is not null
      and probe_at <= now()
      and exists (select from candidate)
    returning connection_id
  ), due as (
    select patient_id
    from candidate
    where exists (select from probe)
  ), ${LEASE}`;

/** Lease up to `limit` due lanes of a connection whose breaker is closed. */
export function leaseDue(db: Queryable, key: ConnectionKey, lease: LaneLease): Promise<LeasedDelivery[]> {
  return leased(db, key, lease, { name: 'exchange-lease-due', text: LEASE_DUE });
}

/**
 * Lease up to `limit` due lanes of a connection whose breaker is open, when it is time to probe: with one of them.
 * No other worker probes while the lease lasts.
 */
export function leaseProbe(db: Queryable, key: ConnectionKey, lease: LaneLease): Promise<LeasedDelivery[]> {
  return leased(db, key, lease, { name: 'exchange-lease-probe', text: LEASE_PROBE });
}

async function leased(
  db: Queryable,
  { organisationId, connectionId }: ConnectionKey,
  { token, durationMs, limit }: LaneLease,
  statement: { name: string; text: string },
): Promise<LeasedDelivery[]> {
  const values = [organisationId, connectionId, limit, token, durationMs];
  return (await db.query<LeasedDelivery>({ ...statement, values })).rows;
}

/**
 * Write results of one connection: the tries into the ledger, and the heads on, as far as the lease still holds.
 * Returns which patients' heads were moved, and whether anything more is queued behind one of them. A head that
 * a change under way has locked is not waited for: it is not among the moved, and is settled by calling again.
 */
export async function settle(
  db: Queryable,
  key: ConnectionKey,
  results: readonly DeliveryResult[],
): Promise<{ moved: Set<string>; more: boolean }> {
  const column = <T>(read: (result: DeliveryResult) => T): T[] => results.map(read);
  const { rows } = await db.query<{ patientId: string; more: boolean }>({
    name: 'exchange-settle',
    text: SETTLE,
    values: [
      key.organisationId,
      key.connectionId,
      column((r) => r.patientId),
      column((r) => r.sequence),
      column((r) => r.leaseToken),
      column((r) => r.next.kind),
      column((r) => (r.next.kind === 'retry' ? r.next.afterMs : 0)),
      column((r) => (r.next.kind === 'hold' ? r.next.reason : null)),
      column((r) => r.counted),
      column((r) => r.attempt?.nonce ?? null),
      column((r) => r.attempt?.startedAt.toISOString() ?? null),
      column((r) => r.attempt?.durationMs ?? null),
      column((r) => r.attempt?.outcome ?? null),
      column((r) => r.attempt?.status ?? null),
      column((r) => r.attempt?.failure ?? null),
      column((r) => r.attempt?.responseHash ?? null),
    ],
  });
  return { moved: new Set(rows.map((row) => row.patientId)), more: rows.some((row) => row.more) };
}

// The coalesce is for the planner. Without it, the planner expects that one lane goes forward. Then it looks up the keys of all
// lanes again for each lane that does.
// If a change ends after this statement began, the statement sees the changed head and not the delivery that was queued.
// That delivery was queued just now. What an update sets is worked out before it: a distributed database takes no time
// that is computed beside columns of the row (docs/adr/0133).
const SETTLE = `
  with result as (
    select *
    from unnest(
      $3::uuid[], $4::bigint[], $5::uuid[], $6::text[], $7::bigint[], $8::text[], $9::boolean[],
      $10::uuid[], $11::timestamptz[], $12::integer[], $13::text[], $14::smallint[], $15::text[], $16::bytea[]
    ) r (patient_id, sequence, lease_token, next, after_ms, reason, counted,
      nonce, started_at, duration_ms, outcome, status, failure, response_hash)
  ), ledger as (
    insert into exchange_attempt (organisation_id, connection_id, patient_id, sequence, nonce, started_at,
      duration_ms, outcome, status, failure, response_hash, counted)
    select $1, $2, patient_id, sequence, nonce, started_at,
      duration_ms, outcome, status, failure, response_hash, counted
    from result
    where nonce is not null
    on conflict do nothing
  ), owned as (
    select h.patient_id, h.sequence, h.last_sequence, h.attempts, r.next, r.after_ms, r.reason, r.counted
    from result r
    cross join lateral (
      select patient_id, sequence, last_sequence, attempts
      from exchange_head h
      where h.organisation_id = $1
        and h.connection_id = $2
        and h.patient_id = r.patient_id
        and h.sequence = r.sequence
        and h.lease_token = r.lease_token
      limit 1
      for update skip locked
    ) h
  ), finished as (
    delete from exchange_head h
    where h.organisation_id = $1
      and h.connection_id = $2
      and h.patient_id = any(array(
        select patient_id
        from owned
        where next = 'advance'
          and sequence = last_sequence
      ))
  ), forward as materialized (
    select o.patient_id, o.sequence + 1 as sequence, coalesce((
      select d.occurred_at
      from exchange_delivery d
      where d.organisation_id = $1
        and d.connection_id = $2
        and d.patient_id = o.patient_id
        and d.sequence = o.sequence + 1
    ), now()) as queued_at
    from owned o
    where coalesce(o.next = 'advance' and o.sequence < o.last_sequence, false)
  ), advanced as (
    update exchange_head h
    set sequence = f.sequence,
        queued_at = f.queued_at,
        attempts = 0,
        due_at = now(),
        lease_token = null,
        leased_until = '-infinity'
    from forward f
    where h.organisation_id = $1
      and h.connection_id = $2
      and h.patient_id = any(array(select patient_id from forward))
      and h.patient_id = f.patient_id
  ), later as materialized (
    select o.patient_id, o.attempts + o.counted::integer as attempts, o.reason,
      case when o.next = 'retry' then now() + o.after_ms * interval '1 millisecond' end as due_at,
      case when o.next = 'hold' then now() end as held_at
    from owned o
    where o.next <> 'advance'
  ), kept as (
    update exchange_head h
    set attempts = l.attempts,
        due_at = l.due_at,
        held_at = l.held_at,
        held_reason = l.reason,
        lease_token = null,
        leased_until = '-infinity'
    from later l
    where h.organisation_id = $1
      and h.connection_id = $2
      and h.patient_id = any(array(select patient_id from later))
      and h.patient_id = l.patient_id
  )
  select patient_id as "patientId", next = 'advance' and sequence < last_sequence as more
  from owned`;

/** Give back lanes that were leased and not tried. */
export async function release(
  db: Queryable,
  key: ConnectionKey,
  lease: { token: string; patientIds: readonly string[] },
): Promise<void> {
  await db.query({
    name: 'exchange-release',
    text: `
      update exchange_head
      set lease_token = null,
          leased_until = '-infinity'
      where organisation_id = $1
        and connection_id = $2
        and patient_id = any($3::uuid[])
        and lease_token = $4`,
    values: [key.organisationId, key.connectionId, lease.patientIds, lease.token],
  });
}

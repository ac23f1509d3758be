/**
 * SQL of results: how tries went, and where their lanes go on (docs/adr/0020).
 *
 * The statement names one organisation and one connection, as those of leases do ({@link ConnectionKey}).
 * Contract: EXC-13, EXC-14, EXC-15.
 */
import type { Queryable } from '../../platform/db/database.ts';
import type { ConnectionKey } from './lane.store.ts';

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

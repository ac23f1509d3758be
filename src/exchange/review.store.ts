/** SQL of what people decide about held deliveries. Each decision is recorded in the statement that makes it. */
import type { Queryable } from '../platform/db/database.ts';
import type { OrganisationScope } from '../tenancy/scope.ts';
import { FILTER, filterValues } from './delivery.store.ts';
import type { DeliveryFilter } from './delivery.ts';

export interface Decision {
  action: 'replay' | 'skip';
  reason: string | null;
  /** Null: an operator at the command line. */
  accountId: string | null;
}

const HELD = `
  exchange_head h
  join exchange_delivery d
    on d.organisation_id = h.organisation_id
    and d.connection_id = h.connection_id
    and d.patient_id = h.patient_id
    and d.sequence = h.sequence
  where h.organisation_id = $1
    and h.held_at is not null
    and ${FILTER}`;

/** Ids of the held deliveries that are meant. */
export async function heldDeliveries(
  db: Queryable,
  scope: OrganisationScope,
  filter: DeliveryFilter,
): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>({
    text: `select d.id from ${HELD} order by d.id`,
    values: filterValues(scope, filter),
  });
  return rows.map((row) => row.id);
}

/** Which of these ids are deliveries, of the facility when one is named. */
export async function knownDeliveries(
  db: Queryable,
  scope: OrganisationScope,
  { ids, facilityId }: { ids: readonly string[]; facilityId: string | undefined },
): Promise<Set<string>> {
  const { rows } = await db.query<{ id: string }>({
    text: `
      select id
      from exchange_delivery
      where organisation_id = $1
        and id = any($2::uuid[])
        and ($3::uuid is null or facility_id = $3)`,
    values: [scope.organisationId, ids, facilityId],
  });
  return new Set(rows.map((row) => row.id));
}

/**
 * Replay: the held deliveries are due now, with all their tries before them, each in its old place.
 * Skip: their lanes go on with what is behind them. Returns the ids.
 */
export async function decide(
  db: Queryable,
  scope: OrganisationScope,
  { filter, decision }: { filter: DeliveryFilter; decision: Decision },
): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>({
    text: `
      with chosen as (
        select h.connection_id, h.patient_id, h.sequence, h.last_sequence, d.id
        from ${HELD}
        order by h.connection_id, h.patient_id
        for update of h
      ), recorded as (
        insert into exchange_review (organisation_id, connection_id, patient_id, sequence, id, action, reason, account_id)
        select $1, connection_id, patient_id, sequence, gen_random_uuid(), $9, $10, $11::uuid
        from chosen
      ), replayed as (
        update exchange_head h
        set held_at = null, held_reason = null, attempts = 0, due_at = now()
        from chosen c
        where $9 = 'replay'
          and h.organisation_id = $1
          and h.connection_id = c.connection_id
          and h.patient_id = c.patient_id
      ), advanced as (
        update exchange_head h
        set held_at = null, held_reason = null, attempts = 0, due_at = now(),
            sequence = n.sequence, queued_at = n.occurred_at
        from chosen c
        join exchange_delivery n
          on n.organisation_id = $1
          and n.connection_id = c.connection_id
          and n.patient_id = c.patient_id
          and n.sequence = c.sequence + 1
        where $9 = 'skip'
          and c.sequence < c.last_sequence
          and h.organisation_id = $1
          and h.connection_id = c.connection_id
          and h.patient_id = c.patient_id
      ), finished as (
        delete from exchange_head h
        using chosen c
        where $9 = 'skip'
          and c.sequence = c.last_sequence
          and h.organisation_id = $1
          and h.connection_id = c.connection_id
          and h.patient_id = c.patient_id
      )
      select id
      from chosen
      order by id`,
    values: [...filterValues(scope, filter), decision.action, decision.reason, decision.accountId],
  });
  return rows.map((row) => row.id);
}

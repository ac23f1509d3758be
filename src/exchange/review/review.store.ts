/**
 * SQL of what people decide about held deliveries. Each decision is recorded in the statement that makes it.
 * Contract: EXC-30, EXC-31.
 */
import { rowsByIndex } from '../../platform/db/by-key.ts';
import { type Client, type Pool, type Queryable, transaction } from '../../platform/db/database.ts';
import type { OrganisationScope } from '../../tenancy/scope.ts';
import { callWorkers } from '../queue/delivery-call.ts';
import { type DeliveryFilter, FILTER, filterValues } from './delivery.store.ts';

export interface Decision {
  action: 'replay' | 'skip';
  reason: string | null;
  /** The account that decided. null: an operator at the command line. */
  accountId: string | null;
}

const HELD = `
  exchange_head h
  join exchange_delivery d
    on d.organisation_id = $1
    and d.connection_id = h.connection_id
    and d.patient_id = h.patient_id
    and d.sequence = h.sequence
  where h.organisation_id = $1
    and h.held_at is not null
    and ${FILTER}`;

/** The delivery that a lane `c` goes on with. */
const NEXT = rowsByIndex(
  'exchange_delivery',
  'n',
  {
    first: { connection_id: 'c.connection_id', patient_id: 'c.patient_id' },
    column: 'sequence',
    value: 'c.next',
  },
  'n.occurred_at',
);

/**
 * Ids of the held deliveries that are meant. With `lock`, their heads are locked in the order in which changes lock them.
 */
export async function heldDeliveries(
  db: Queryable,
  scope: OrganisationScope,
  filter: DeliveryFilter,
  { lock = false }: { lock?: boolean } = {},
): Promise<string[]> {
  const order = lock ? 'h.connection_id, h.patient_id for update of h' : 'd.id';
  const { rows } = await db.query<{ id: string }>({
    text: `select d.id from ${HELD} order by ${order}`,
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
 *
 * The heads are locked by a statement of its own: a change under way may queue behind a head while its lock is
 * waited for, and only a later statement sees what that change queued. `also` is done in the same transaction, where
 * anything was decided.
 */
export function decide(
  db: Pool,
  scope: OrganisationScope,
  { filter, decision }: { filter: DeliveryFilter; decision: Decision },
  also: (client: Client, decided: readonly string[]) => Promise<void> = async () => undefined,
): Promise<string[]> {
  return transaction(db, async (client) => {
    const ids = await heldDeliveries(client, scope, filter, { lock: true });
    if (ids.length === 0) return [];
    callWorkers(client, scope.organisationId);
    const decided = await decideLocked(client, scope, { ids, decision });
    if (decided.length > 0) await also(client, decided);
    return decided;
  });
}

/** `next` is what each lane goes on with. What is recorded and returned is what was moved. */
async function decideLocked(
  db: Queryable,
  scope: OrganisationScope,
  { ids, decision }: { ids: readonly string[]; decision: Decision },
): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>({
    text: `
      with chosen as (
        select h.connection_id, h.patient_id, h.sequence, h.last_sequence, d.id,
          h.sequence + ($9 = 'skip')::integer as next
        from ${HELD}
      ), due as (
        update exchange_head h
        set held_at = null, held_reason = null, attempts = 0, due_at = now(),
            sequence = c.next, queued_at = n.occurred_at
        from chosen c
        cross join ${NEXT} n
        where c.next <= c.last_sequence
          and h.organisation_id = $1
          and h.connection_id = c.connection_id
          and h.patient_id = c.patient_id
        returning c.*
      ), finished as (
        delete from exchange_head h
        using chosen c
        where c.next > c.last_sequence
          and h.organisation_id = $1
          and h.connection_id = c.connection_id
          and h.patient_id = c.patient_id
        returning c.*
      ), moved as (
        select * from due
        union all
        select * from finished
      ), recorded as (
        insert into exchange_review (organisation_id, connection_id, patient_id, sequence, id, action, reason, account_id)
        select $1, connection_id, patient_id, sequence, gen_random_uuid(), $9, $10, $11::uuid
        from moved
      )
      select id
      from moved
      order by id`,
    values: [...filterValues(scope, { ids }), decision.action, decision.reason, decision.accountId],
  });
  return rows.map((row) => row.id);
}

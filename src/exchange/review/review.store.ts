/**
 * SQL of what people decide about held deliveries. Each decision is recorded in the statement that makes it.
 * Contract: EXC-30, EXC-31.
 */
import { rowByKey, rowsByIndex } from '../../platform/db/by-key.ts';
import { type Client, type Pool, type Queryable, transaction } from '../../platform/db/database.ts';
import type { OrganisationScope } from '../../tenancy/scope.ts';
import { covers } from '../queue/covers.ts';
import { callWorkers } from '../queue/delivery-call.ts';
import { type DeliveryFilter, deliveryOfLane, FILTER, filterValues } from './delivery.store.ts';

export interface Decision {
  action: 'replay' | 'skip';
  reason: string | null;
  /** The account that decided. null: an operator at the command line. */
  accountId: string | null;
}

/**
 * Held deliveries `d` with their heads `h`: those that are named, or all. Each delivery and each head is looked up by its
 * key (docs/adr/0122).
 */
const HELD = {
  named: `
    (select distinct unnest($2::uuid[]) as id) asked
    cross join ${rowsByIndex('exchange_delivery', 'd', { column: 'id', value: 'asked.id' })} d
    cross join ${rowByKey('exchange_head', 'h', { connection_id: 'd.connection_id', patient_id: 'd.patient_id' })} h`,
  all: `
    (
      select *
      from exchange_head
      where organisation_id = $1
        and held_at is not null
        and ($3::uuid is null or connection_id = $3)
        and ($4::uuid is null or patient_id = $4)
      offset 0
    ) h
    cross join ${deliveryOfLane('d', { connection_id: 'h.connection_id', patient_id: 'h.patient_id' }, 'h.sequence')} d`,
};

/** The delivery that a lane `c` goes on with. */
const NEXT = deliveryOfLane(
  'n',
  { connection_id: 'c.connection_id', patient_id: 'c.patient_id' },
  'c.next',
  'n.occurred_at',
);

/** Ids of the held deliveries that are meant. */
export function heldDeliveries(
  db: Pool,
  scope: OrganisationScope,
  filter: DeliveryFilter,
): Promise<string[]> {
  return transaction(db, async (client) => {
    await readInOrder(client);
    return findHeld(client, scope, filter, { lock: false });
  });
}

/**
 * For the rest of the transaction, a look-up ({@link rowsByIndex}) uses the index that has its order. PostgreSQL might take a
 * lower index and sort the one row that it expects. Where no index has the order it sorts all the same, at a made-up cost
 * that would start its compiler.
 */
async function readInOrder(client: Client): Promise<void> {
  await client.query(`select set_config('enable_sort', 'off', true), set_config('jit', 'off', true)`);
}

/**
 * With `lock`, their heads are locked in the order in which changes lock them, and those that are no longer held when the
 * lock is there are left out.
 */
async function findHeld(
  db: Queryable,
  scope: OrganisationScope,
  filter: DeliveryFilter,
  { lock }: { lock: boolean },
): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>({
    text: `
      with found as materialized (
        select d.id, d.connection_id, d.patient_id, d.sequence
        from ${filter.ids === undefined ? HELD.all : HELD.named}
        where h.sequence = d.sequence
          and h.held_at is not null
          and ${FILTER}
        order by d.connection_id, d.patient_id
      )
      select f.id
      from found f
      ${lock ? LOCKED : 'order by f.id'}`,
    values: filterValues(scope, filter),
  });
  return rows.map((row) => row.id);
}

/** The heads of `found f`, one after the other. */
const LOCKED = `
  cross join lateral (
    select sequence, held_at, held_reason
    from exchange_head h
    where h.organisation_id = $1
      and h.connection_id = f.connection_id
      and h.patient_id = f.patient_id
    offset 0
    for update
  ) h
  where h.sequence = f.sequence
    and h.held_at is not null
    and ($6::text is null or h.held_reason = $6)`;

/** How many of these deliveries are of a facility that their connection does not cover: they are held again, or still. */
export async function countUncovered(
  db: Queryable,
  { organisationId }: OrganisationScope,
  ids: readonly string[],
): Promise<number> {
  const { rows } = await db.query<{ count: number }>({
    text: `
      select count(*)::integer as count
      from unnest($2::uuid[]) asked (id)
      cross join ${rowsByIndex('exchange_delivery', 'd', { column: 'id', value: 'asked.id' })} d
      cross join ${rowByKey('exchange_connection', 'c', { id: 'd.connection_id' })} c
      where not ${covers('d.facility_id')}`,
    values: [organisationId, ids],
  });
  return rows[0]?.count ?? 0;
}

/** Which of these ids are deliveries, of the facility when one is named. */
export async function knownDeliveries(
  db: Queryable,
  scope: OrganisationScope,
  { ids, facilityId }: { ids: readonly string[]; facilityId?: string | undefined },
): Promise<Set<string>> {
  const { rows } = await db.query<{ id: string }>({
    text: `
      select d.id
      from unnest($2::uuid[]) asked (id)
      cross join ${rowsByIndex('exchange_delivery', 'd', { column: 'id', value: 'asked.id' })} d
      where $3::uuid is null or d.facility_id = $3`,
    values: [scope.organisationId, ids, facilityId],
  });
  return new Set(rows.map((row) => row.id));
}

/**
 * Replay: the held deliveries are due now, with all their tries before them, each in its old place.
 * Skip: their lanes go on with what is behind them. Returns the ids.
 *
 * The heads are locked by a statement of its own: a change under way may queue behind a head while its lock is
 * waited for, and only a later statement sees what that change queued. `also` is done in the same transaction, also where
 * nothing was decided; what it throws undoes the decision.
 */
export function decide(
  db: Pool,
  scope: OrganisationScope,
  { filter, decision }: { filter: DeliveryFilter; decision: Decision },
  also: (client: Client, decided: readonly string[]) => Promise<void> = async () => undefined,
): Promise<string[]> {
  return transaction(db, async (client) => {
    await readInOrder(client);
    const ids = await findHeld(client, scope, filter, { lock: true });
    if (ids.length > 0) callWorkers(client, scope.organisationId);
    const decided = ids.length === 0 ? [] : await decideLocked(client, scope, { ids, decision });
    await also(client, decided);
    return decided;
  });
}

/** The head `h` of the lane `c`. */
const HEAD_OF_CHOSEN = `
  h.organisation_id = $1
  and h.connection_id = any(array(select connection_id from chosen))
  and h.patient_id = any(array(select patient_id from chosen))
  and h.connection_id = c.connection_id
  and h.patient_id = c.patient_id`;

/**
 * `next` is what each lane goes on with. What is recorded and returned is what was moved. The heads are locked, so they are
 * still held. A condition that says so is left out: with it the planner expects one row. Not at the time of the transaction,
 * which began before it waited for the locks: of two decisions about one delivery, the last one counts.
 */
async function decideLocked(
  db: Queryable,
  { organisationId }: OrganisationScope,
  { ids, decision }: { ids: readonly string[]; decision: Decision },
): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>({
    text: `
      with chosen as materialized (
        select h.connection_id, h.patient_id, h.sequence, h.last_sequence, d.id,
          h.sequence + ($3 = 'skip')::integer as next
        from ${HELD.named}
      ), due as (
        update exchange_head h
        set held_at = null, held_reason = null, attempts = 0, due_at = now(),
            sequence = c.next, queued_at = n.occurred_at
        from chosen c
        cross join ${NEXT} n
        where c.next <= c.last_sequence
          and ${HEAD_OF_CHOSEN}
        returning c.*
      ), finished as (
        delete from exchange_head h
        using chosen c
        where c.next > c.last_sequence
          and ${HEAD_OF_CHOSEN}
        returning c.*
      ), moved as (
        select * from due
        union all
        select * from finished
      ), recorded as (
        insert into exchange_review (organisation_id, connection_id, patient_id, sequence, delivery_id, id, action, reason,
          account_id, decided_at)
        select $1, connection_id, patient_id, sequence, id, gen_random_uuid(), $3, $4, $5::uuid, clock_timestamp()
        from moved
      )
      select id
      from moved
      order by id`,
    values: [organisationId, ids, decision.action, decision.reason, decision.accountId],
  });
  return rows.map((row) => row.id);
}

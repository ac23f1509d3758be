/**
 * SQL that numbers deliveries anew in a database that was put back to an older state (docs/adr/0136). An exchange takes
 * the higher number for the newer state of a patient, so nothing may go out under a number that was used before.
 * Contract: EXC-54.
 */
import type { Queryable } from '../../platform/db/database.ts';
import type { OrganisationScope } from '../../tenancy/scope.ts';

/**
 * Wait until no change of patients is under way, and let none begin until the transaction ends: who queues deliveries
 * has read the connections in the same transaction.
 */
export async function lockQueueing(db: Queryable): Promise<void> {
  await db.query({ text: 'lock table exchange_connection in access exclusive mode' });
}

/** The highest number of an organisation's deliveries, and how many of them wait. */
export async function readNumbers(
  db: Queryable,
  { organisationId }: OrganisationScope,
): Promise<{ highest: number; waiting: number }> {
  const { rows } = await db.query<{ highest: number; waiting: number }>({
    text: `
      select
        greatest(
          (select max(last_sequence) from exchange_lane where organisation_id = $1),
          (select max(sequence_floor) from exchange_connection where organisation_id = $1),
          0
        ) as highest,
        (
          select coalesce(sum(last_sequence - sequence + 1), 0)::bigint
          from exchange_head
          where organisation_id = $1
        ) as waiting`,
    values: [organisationId],
  });
  return rows[0] ?? { highest: 0, waiting: 0 };
}

/**
 * Number what an organisation queues from now on above `floor`, and what waits as well: the id of a delivery stays, so
 * that an exchange that has it already knows it again. `floor` is above every number of the organisation.
 */
export async function renumber(
  db: Queryable,
  { organisationId }: OrganisationScope,
  floor: number,
): Promise<void> {
  const values = [organisationId, floor];
  for (const text of [FLOOR, DELIVERIES, trace('exchange_attempt'), trace('exchange_review'), LANES, HEADS])
    await db.query({ text, values });
}

const FLOOR = `
  update exchange_connection
  set sequence_floor = $2
  where organisation_id = $1`;

/** The first waiting delivery of a lane gets the number after the floor; the others follow in their order. */
const RENUMBERED = `$2::bigint + 1 - h.sequence`;

const OF_WAITING = `
  from exchange_head h
  where h.organisation_id = $1
    and t.organisation_id = $1
    and t.connection_id = h.connection_id
    and t.patient_id = h.patient_id`;

// The first match in the envelope is its own member: only ids and times stand before it (envelope.ts).
const DELIVERIES = `
  update exchange_delivery t
  set sequence = t.sequence + ${RENUMBERED},
      body = regexp_replace(t.body, '"sequence":\\d+', '"sequence":' || (t.sequence + ${RENUMBERED}))
  ${OF_WAITING}
    and t.sequence >= h.sequence`;

/** What was tried and decided of a delivery stays with it. */
function trace(table: string): string {
  return `
    update ${table} t
    set sequence = t.sequence + ${RENUMBERED}
    ${OF_WAITING}
      and t.sequence >= h.sequence`;
}

const LANES = `
  update exchange_lane t
  set last_sequence = t.last_sequence + ${RENUMBERED}
  ${OF_WAITING}`;

/** Whoever has leased a lane under its old number has lost it. */
const HEADS = `
  update exchange_head
  set sequence = $2::bigint + 1,
      last_sequence = last_sequence + $2::bigint + 1 - sequence,
      lease_token = null,
      leased_until = '-infinity'
  where organisation_id = $1`;

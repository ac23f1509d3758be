/**
 * SQL that removes what the ledger of deliveries need not keep. A delivery stays whole while it waits, is held or is
 * parked, and for a time after it was tried or decided on. What the service needs to know a repeat stays for ever: the
 * numbers of lanes, the digests of callbacks with their answers, and assigned ids.
 * Contract: EXC-51.
 */
import type { Queryable } from '../../platform/db/database.ts';
import type { RetentionBatch, RetentionRule, Swept } from '../../tenancy/organisations/retention.ts';
import type { OrganisationScope } from '../../tenancy/scope.ts';

export interface DeliveryRetention {
  /** Days that the payload of a delivery stays after it is done; 0: for ever. */
  payloadDays: number;
  /** Days that the rest of it stays. */
  historyDays: number;
}

export function deliveryRetentionRules({ payloadDays, historyDays }: DeliveryRetention): RetentionRule[] {
  return [
    {
      name: 'payloads of deliveries',
      days: payloadDays,
      sweep: sweepOf('exchange-sweep-payloads', PAYLOADS),
    },
    { name: 'deliveries', days: historyDays, sweep: sweepOf('exchange-sweep-deliveries', DELIVERIES) },
    {
      name: 'messages of callbacks',
      days: historyDays,
      sweep: sweepOf('exchange-sweep-callbacks', MESSAGES),
    },
  ];
}

/** Statements that look at `$3` rows after the id `$2`, and remove those that are older than `$4` days. */
interface Sweep {
  /** Rows that are looked at, with the columns `id` and `at`. */
  looked: string;
  /** Of `looked l`. */
  over: string;
  /** Changes what is in `over o`; the last part is named `removed`. */
  remove: string;
}

const CUTOFF = `now() - $4::integer * interval '1 day'`;

// Done: before the head of its lane, which only moves on. By reads of one row each: an anti-join leaves the planner the
// choice of reading every try into a hash.
const DONE_LONG_AGO = `
  coalesce((
    select h.sequence > l.sequence
    from exchange_head h
    where h.organisation_id = $1
      and h.connection_id = l.connection_id
      and h.patient_id = l.patient_id
  ), true)
  and ${lastIsOld('exchange_attempt', 'started_at')}
  and ${lastIsOld('exchange_review', 'decided_at')}`;

/** Rows of `table` that belong to the delivery `l` have no time after the cutoff. */
function lastIsOld(table: string, time: string): string {
  return `coalesce((
    select max(x.${time}) < ${CUTOFF}
    from ${table} x
    where ${sameDelivery('x', 'l')}
  ), true)`;
}

/** Row `x` is of the delivery `delivery`: by default, one of `over o`. */
function sameDelivery(x: string, delivery = 'o'): string {
  return `
    ${x}.organisation_id = $1
    and ${x}.connection_id = ${delivery}.connection_id
    and ${x}.patient_id = ${delivery}.patient_id
    and ${x}.sequence = ${delivery}.sequence`;
}

const LOOKED_AT = `
  select connection_id, patient_id, sequence, id, occurred_at as at
  from exchange_delivery
  where organisation_id = $1`;

const PAYLOADS: Sweep = {
  looked: `${LOOKED_AT} and body is not null`,
  over: DONE_LONG_AGO,
  remove: `removed as (
    update exchange_delivery d
    set body = null
    from over o
    where ${sameDelivery('d')}
    returning 1
  )`,
};

const DELIVERIES: Sweep = {
  looked: LOOKED_AT,
  over: DONE_LONG_AGO,
  remove: `attempts as (
    delete from exchange_attempt a
    using over o
    where ${sameDelivery('a')}
  ), reviews as (
    delete from exchange_review v
    using over o
    where ${sameDelivery('v')}
  ), removed as (
    delete from exchange_delivery d
    using over o
    where ${sameDelivery('d')}
    returning 1
  )`,
};

/** Not of those in conflict: people look at them. */
const MESSAGES: Sweep = {
  looked: `
    select connection_id, body_digest, id, received_at as at
    from exchange_callback
    where organisation_id = $1
      and message is not null
      and outcome = 'applied'`,
  over: 'true',
  remove: `removed as (
    update exchange_callback c
    set message = null
    from over o
    where c.organisation_id = $1
      and c.connection_id = o.connection_id
      and c.body_digest = o.body_digest
    returning 1
  )`,
};

const FIRST = '00000000-0000-0000-0000-000000000000';

function sweepOf(name: string, sweep: Sweep): RetentionRule['sweep'] {
  const [remove, count] = [textOf(sweep, sweep.remove), textOf(sweep, 'removed as (select from over)')];
  return async (db: Queryable, scope: OrganisationScope, batch: RetentionBatch): Promise<Swept> => {
    const { rows } = await db.query<{ removed: number; last: string | null }>({
      ...(batch.dryRun ? { name: `${name}-count`, text: count } : { name, text: remove }),
      values: [scope.organisationId, batch.after ?? FIRST, batch.limit, batch.days],
    });
    return { removed: rows[0]?.removed ?? 0, last: rows[0]?.last ?? undefined };
  };
}

// Ids ascend with time: a batch that is not full, or that ends with something young, is the last one.
function textOf({ looked, over }: Sweep, remove: string): string {
  return `
    with looked as materialized (
      ${looked}
        and id > $2
      order by id
      limit $3
    ), over as materialized (
      select *
      from looked l
      where l.at < ${CUTOFF}
        and ${over}
    ), ${remove}
    select (select count(*)::integer from removed) as removed, (
      select id
      from (select id, at from looked order by id desc limit 1) e
      where e.at < ${CUTOFF}
        and (select count(*) from looked) = $3
    ) as last`;
}

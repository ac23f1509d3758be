/** SQL of reviewing deliveries: lists by where they stand, and everything about one. */
import { exactly, rowByKey, rowsByIndex } from '../../platform/db/by-key.ts';
import type { Queryable } from '../../platform/db/database.ts';
import type { Slice } from '../../platform/http/paging.ts';
import type { OrganisationScope } from '../../tenancy/scope.ts';
import { moduleOn } from '../queue/covers.ts';
import type { Delivery, DeliveryDetail, DeliveryStatus } from './delivery.schema.ts';
import type { AboutPatient } from './trace-shown.ts';

/** Which deliveries are meant. What is undefined does not matter. */
export interface DeliveryFilter {
  ids?: readonly string[] | undefined;
  connectionId?: string | undefined;
  patientId?: string | undefined;
  facilityId?: string | undefined;
  heldReason?: string | undefined;
  /** Queued in [since, until). */
  since?: Date | undefined;
  until?: Date | undefined;
}

// Behind the head: skipped when that was the last word on it, unless some try was taken by the exchange all the same.
const STATUS = `
  case
    when h.sequence > d.sequence or h.sequence is null then
      case when 'skip' = (
        select v.action
        from exchange_review v
        where v.organisation_id = $1
          and v.connection_id = d.connection_id
          and v.patient_id = d.patient_id
          and v.sequence = d.sequence
        order by v.decided_at desc, v.id desc
        limit 1
      ) and not exists (
        select from exchange_attempt t
        where t.organisation_id = $1
          and t.connection_id = d.connection_id
          and t.patient_id = d.patient_id
          and t.sequence = d.sequence
          and t.outcome = 'delivered'
      ) then 'skipped' else 'delivered' end
    when h.sequence = d.sequence and h.held_at is not null then 'held'
    else 'queued'
  end`;

/**
 * `$1` organisation, `$2`–`$8` the filter; joins deliveries `d` and heads `h`. Lists, replays and skips share it, so a
 * condition here holds for all of them; each numbers its own parameters from `$9` on.
 */
export const FILTER = `
  d.organisation_id = $1
  and ($2::uuid[] is null or d.id = any($2))
  and ($3::uuid is null or d.connection_id = $3)
  and ($4::uuid is null or (d.patient_id = $4 and d.connection_id = any(array(
    select id
    from exchange_connection
    where organisation_id = $1
  ))))
  and ($5::uuid is null or d.facility_id = $5)
  and ($6::text is null or h.held_reason = $6)
  and ($7::timestamptz is null or d.occurred_at >= $7)
  and ($8::timestamptz is null or d.occurred_at < $8)`;

export function filterValues({ organisationId }: OrganisationScope, filter: DeliveryFilter): unknown[] {
  const { ids, connectionId, patientId, facilityId, heldReason, since, until } = filter;
  return [organisationId, ids, connectionId, patientId, facilityId, heldReason, since, until];
}

const LANE = `
  h.organisation_id = $1
  and h.connection_id = d.connection_id
  and h.patient_id = d.patient_id`;

/** Each by its lane; the planner might read all heads for each delivery. */
const ITS_HEAD = `left join ${rowByKey('exchange_head', 'h', {
  connection_id: 'd.connection_id',
  patient_id: 'd.patient_id',
})} h on true`;
const WITH_HEAD = `exchange_delivery d ${ITS_HEAD}`;

/** Ids between which a page is: after the cursor, and of the times asked for. */
const within = (id: string) => `
          ($9::uuid is null or ${id} < $9)
          and ($10::uuid is null or ${id} >= $10)
          and ($12::uuid is null or ${id} < $12)`;

/** By what people decided. In the order of lists, so that no more are read than a page needs. */
const EVER_SKIPPED = `(
    select distinct delivery_id as id
    from exchange_review
    where organisation_id = $1
      and action = 'skip'
      and ($3::uuid is null or connection_id = $3)
      and ($4::uuid is null or patient_id = $4)
      and ${within('delivery_id')}
    order by id desc
    offset 0
  ) e
  cross join ${rowsByIndex('exchange_delivery', 'd', { column: 'id', value: 'e.id' })} d`;

/** Where each list starts, so that what waits is found without reading what is done. */
const FROM: Record<DeliveryStatus | 'any', string> = {
  held: `exchange_head h join exchange_delivery d on ${LANE} and d.sequence = h.sequence and h.held_at is not null`,
  queued: `exchange_head h join exchange_delivery d on ${LANE}
    and (d.sequence > h.sequence or (d.sequence = h.sequence and h.held_at is null))`,
  delivered: WITH_HEAD,
  skipped: `${EVER_SKIPPED} ${ITS_HEAD}`,
  any: WITH_HEAD,
};

/**
 * Every id there is. Where the planner has no statistics, it then takes the index that has the order of the ids, and stops
 * where the page is full. Otherwise it may look up where each delivery of the organisation stands, and sort them all
 * (docs/adr/0122).
 */
const ANY_ID = `
          d.id >= '00000000-0000-0000-0000-000000000000'
          and d.id <= 'ffffffff-ffff-ffff-ffff-ffffffffffff'`;

/** Hours by which the clocks of the process that made an id and of the database may differ. */
const CLOCK_SLACK_MS = 3_600_000;

/** SQL of the delivery of a lane that has this number. */
export function deliveryOfLane(
  alias: string,
  lane: { connection_id: string; patient_id: string },
  sequence: string,
  columns?: string,
): string {
  return rowsByIndex(
    'exchange_delivery',
    alias,
    { first: lane, column: 'sequence', value: sequence },
    columns,
  );
}

/** The delivery at the head of the lane, where one of a page `d` is behind it. */
const ITS_FIRST = deliveryOfLane(
  'w',
  { connection_id: 'd."connectionId"', patient_id: 'd."patientId"' },
  'd.first',
  'w.id, w.facility_id',
);

/**
 * Of a delivery `d` of a page, its connection `n`, and the delivery `w` that comes first, if that may be shown: another
 * facility's may be held, which is not told here.
 */
const WAIT_REASON = `
  case
    when d.status <> 'queued' then null
    when d.first is not null then
      case when d."isFirstHeld" and w.id is not null then 'held_delivery' else 'earlier_delivery' end
    when n.disabled_at is not null then 'connection_disabled'
    when not ${moduleOn('d."facilityId"')} then 'module_disabled'
  end`;

/** Deliveries, newest first. The page is found first, and what is shown beside them is looked up for the page alone. */
export async function listDeliveries(
  db: Queryable,
  scope: OrganisationScope,
  query: Slice<readonly [id: string]> & { filter: DeliveryFilter; status?: DeliveryStatus | undefined },
): Promise<Delivery[]> {
  const kind = query.status ?? 'any';
  // The lists of held and of queued ones start at those alone.
  const isDone = kind === 'delivered' || kind === 'skipped';
  const { since, until, ids, patientId } = query.filter;
  const isWide = ids === undefined && patientId === undefined && (kind === 'delivered' || kind === 'any');
  const { rows } = await db.query<DeliveryRow>({
    text: `
      with page as materialized (
        select d.id, d.organisation_id as "organisationId", d.facility_id as "facilityId",
          d.connection_id as "connectionId", d.patient_id as "patientId", d.sequence, d.event,
          d.occurred_at as "occurredAt", d.body is not null as "hasPayload", ${STATUS} as status,
          ${ofHead('h.held_at')} as "heldAt", ${ofHead('h.held_reason')} as "heldReason",
          ${ofHead('h.due_at')} as "nextAttemptAt", ${behindHead('h.sequence')} as first,
          ${behindHead('h.held_at')} is not null as "isFirstHeld"
        from ${FROM[kind]}
        where ${FILTER}
          ${isDone ? `and ${STATUS} = '${kind}'` : ''}
          and ${within('d.id')}
          ${isWide ? `and ${ANY_ID}` : ''}
        order by ${kind === 'skipped' ? 'e' : 'd'}.id desc
        limit $11
      )
      select d.*, n.name as "connectionName", n.disabled_at is null as "connectionEnabled",
        ${WAIT_REASON} as "waitReason", w.id as "waitsForId", (
          select name
          from organisation
          where id = $1
        ) as "organisationName",
        a.started_at as "startedAt", a.outcome, a.status as "httpStatus", a.failure,
        c.status as confirmed, c.assigned_id as "assignedId", v.action as "reviewAction",
        v.reason as "reviewReason", v.account_id as "reviewAccountId", v.decided_at as "reviewedAt", (
          select refused_purposes
          from patient p
          where p.organisation_id = $1
            and p.id = d."patientId"
        ) as "refusedPurposes"
      from page d
      cross join ${rowByKey('exchange_connection', 'n', { id: 'd."connectionId"' }, 'n.name, n.disabled_at')} n
      left join ${ITS_FIRST} w on $5::uuid is null or w.facility_id = $5
      left join lateral (
        select started_at, outcome, status, failure
        from exchange_attempt a
        where a.organisation_id = $1
          and a.connection_id = d."connectionId"
          and a.patient_id = d."patientId"
          and a.sequence = d.sequence
        order by started_at desc
        limit 1
      ) a on true
      left join lateral (
        select status, assigned_id
        from exchange_callback c
        where c.organisation_id = $1
          and ${exactly('c.delivery_id', 'd.id')}
          and c.outcome = 'applied'
        order by c.delivery_id, received_at desc
        limit 1
      ) c on true
      left join lateral (
        select action, reason, account_id, decided_at
        from exchange_review v
        where v.organisation_id = $1
          and v.connection_id = d."connectionId"
          and v.patient_id = d."patientId"
          and v.sequence = d.sequence
        order by decided_at desc, v.id desc
        limit 1
      ) v on true
      order by d.id desc`,
    values: [
      ...filterValues(scope, query.filter),
      query.after?.[0],
      since && firstIdOf(new Date(since.getTime() - CLOCK_SLACK_MS)),
      query.limit,
      until && firstIdOf(new Date(until.getTime() + CLOCK_SLACK_MS)),
    ],
  });
  return rows.map(toDelivery);
}

/** The lowest UUIDv7 of a millisecond (RFC 9562 section 5.7). */
function firstIdOf(time: Date): string {
  const hex = Math.max(0, time.getTime()).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
}

/** Null for a delivery that is not at the head of its lane. */
function ofHead(column: string): string {
  return `case when h.sequence = d.sequence then ${column} end`;
}

/** Null for a delivery that is not behind the head of its lane. */
function behindHead(column: string): string {
  return `case when h.sequence < d.sequence then ${column} end`;
}

type LastAttempt = NonNullable<Delivery['lastAttempt']>;
type LastReview = NonNullable<Delivery['lastReview']>;

interface DeliveryRow extends Omit<Delivery, 'lastAttempt' | 'confirmation' | 'lastReview'> {
  first: number | null;
  isFirstHeld: boolean;
  startedAt: Date | null;
  outcome: LastAttempt['outcome'] | null;
  httpStatus: number | null;
  failure: string | null;
  confirmed: 'accepted' | 'rejected' | null;
  assignedId: string | null;
  reviewAction: LastReview['action'] | null;
  reviewReason: string | null;
  reviewAccountId: string | null;
  reviewedAt: Date | null;
}

function toDelivery(row: DeliveryRow): Delivery {
  const {
    first: _first,
    isFirstHeld: _isFirstHeld,
    startedAt,
    outcome,
    httpStatus: status,
    failure,
    confirmed,
    assignedId,
    reviewAction: action,
    reviewReason: reason,
    reviewAccountId: accountId,
    reviewedAt: decidedAt,
    ...delivery
  } = row;
  return {
    ...delivery,
    lastAttempt: startedAt === null || outcome === null ? null : { startedAt, outcome, status, failure },
    confirmation: confirmed === null ? null : { status: confirmed, assignedId },
    lastReview: decidedAt === null || action === null ? null : { action, reason, accountId, decidedAt },
  };
}

/** Everything about one delivery but its payload. */
export async function readDelivery(
  db: Queryable,
  scope: OrganisationScope & { facilityId?: string | undefined },
  id: string,
): Promise<DeliveryDetail | undefined> {
  const filter = { ids: [id], facilityId: scope.facilityId };
  const [delivery] = await listDeliveries(db, scope, { filter, limit: 1 });
  if (delivery === undefined) return undefined;
  const values = [scope.organisationId, delivery.connectionId, delivery.patientId, delivery.sequence];
  const attempts = await db.query<DeliveryDetail['attempts'][number]>({
    text: `
      select nonce, started_at as "startedAt", duration_ms as "durationMs", outcome, status, failure,
        encode(response_hash, 'hex') as "responseHash", counted
      from exchange_attempt
      where organisation_id = $1
        and connection_id = $2
        and patient_id = $3
        and sequence = $4
      order by started_at, nonce`,
    values,
  });
  const reviews = await db.query<DeliveryDetail['reviews'][number]>({
    text: `
      select action, reason, account_id as "accountId", decided_at as "decidedAt"
      from exchange_review
      where organisation_id = $1
        and connection_id = $2
        and patient_id = $3
        and sequence = $4
      order by decided_at, id`,
    values,
  });
  return { ...delivery, attempts: attempts.rows, reviews: reviews.rows };
}

type Payload = AboutPatient & { body: string | null };

/** The payload of one delivery, null when retention has removed it, and what decides whether it may be read. */
export async function readPayload(
  db: Queryable,
  scope: OrganisationScope & { facilityId?: string | undefined },
  id: string,
): Promise<Payload | undefined> {
  const { rows } = await db.query<Payload>({
    name: 'exchange-delivery-payload',
    text: `
      select d.organisation_id as "organisationId", d.facility_id as "facilityId", d.patient_id as "patientId", d.body,
        p.refused_purposes as "refusedPurposes"
      from exchange_delivery d
      cross join ${rowByKey('patient', 'p', { id: 'd.patient_id' }, 'p.refused_purposes')} p
      where d.organisation_id = $1
        and d.id = $2
        and ($3::uuid is null or d.facility_id = $3)`,
    values: [scope.organisationId, id, scope.facilityId],
  });
  return rows[0];
}

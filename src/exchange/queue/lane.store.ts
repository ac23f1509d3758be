/**
 * SQL of lanes: leasing what is due, and giving it back (docs/adr/0020).
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

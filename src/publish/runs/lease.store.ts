/**
 * SQL of leases: which publish may send an order, and the records of its patient, to a FHIR server now. All times are
 * by the clock of the database.
 * Contract: PUB-33, PUB-36.
 */
import type { Queryable } from '../../platform/db/database.ts';
import type { ResourceKey } from '../plan/content.fhir.ts';
import { splitKey } from '../plan/content.fhir.ts';

export interface LeaseKey {
  organisationId: string;
  fhirServerId: string;
  /** What is leased: a patient with all records, or a record that patients share. */
  record: ResourceKey;
  /** The order or set that is leased with its patient, as `kind/id` (docs/adr/0070). */
  subject?: ResourceKey;
}

/** A lease and the token that proves that it is ours. */
export interface HeldLease {
  key: LeaseKey;
  token: string;
}

/** A lease as it is asked for. */
export interface WantedLease extends HeldLease {
  durationMs: number;
}

/**
 * Steps of a `with` that take all wanted leases, or none. Parameters: {@link takingValues}.
 *
 * A lease is taken only if its row is still as this statement saw it when it began. So this statement also sees
 * everything that the last holder wrote under the lease, and one round trip is enough to take it and to look up what is
 * recorded (docs/adr/0106). The row of a lease that was given back stays, so that it can be compared.
 */
export const TAKE_LEASES = `
  wanted as materialized (
    select w.resource_type, w.record_id, l.token, l.leased_until, l.leased_until > clock_timestamp() as is_held,
      clock_timestamp() + $6::integer * interval '1 millisecond' as until
    from unnest($3::text[], $4::uuid[]) as w (resource_type, record_id)
    left join publish_lease l
      on l.organisation_id = $1
      and l.target_id = $2
      and l.resource_type = w.resource_type
      and l.record_id = w.record_id
  ),
  taken_over as (
    update publish_lease l
    set token = $5,
        leased_until = w.until
    from wanted w
    where l.organisation_id = $1
      and l.target_id = $2
      and l.resource_type = w.resource_type
      and l.record_id = w.record_id
      and l.token = w.token
      and l.leased_until = w.leased_until
      and not exists (select 1 from wanted where is_held)
    returning 1
  ),
  added as (
    insert into publish_lease (organisation_id, target_id, resource_type, record_id, token, leased_until)
    select $1, $2, w.resource_type, w.record_id, $5, w.until
    from wanted w
    where w.token is null
      and not exists (select 1 from wanted where is_held)
    on conflict (organisation_id, target_id, resource_type, record_id) do nothing
    returning 1
  ),
  taken as materialized (
    select (select count(*) from taken_over) + (select count(*) from added) as leases
  )`;

export function takingValues({ key, token, durationMs }: WantedLease): unknown[] {
  return [key.organisationId, key.fhirServerId, ...leaseColumns(key), token, durationMs];
}

/** True when the lease is ours: nobody held it, or it had ended. */
export async function takeLease(db: Queryable, lease: WantedLease): Promise<boolean> {
  const { rows } = await db.query<{ is_taken: boolean }>({
    name: 'publish-lease-take',
    text: `with ${TAKE_LEASES} select leases = cardinality($3::text[]) as is_taken from taken`,
    values: takingValues(lease),
  });
  return rows[0]?.is_taken === true;
}

/**
 * Steps of a `with` that let leases of ours end a number of milliseconds from now. `$1` and `$2` are organisation and
 * server; from `$first` on come types, ids, token and milliseconds.
 */
export function moveLeaseEnds(first: number): string {
  return `
  lease_end as materialized (
    select clock_timestamp() + $${first + 3}::integer * interval '1 millisecond' as at
  ),
  moved as (
    update publish_lease l
    set leased_until = lease_end.at
    from lease_end
    where l.organisation_id = $1
      and l.target_id = $2
      and (l.resource_type, l.record_id) in (select type, id from unnest($${first}::text[], $${first + 1}::uuid[]) as k (type, id))
      and l.token = $${first + 2}
    returning 1
  )`;
}

/** False when the lease was lost: it ended, and somebody else took it. */
export async function renewLease(db: Queryable, { key, token, durationMs }: WantedLease): Promise<boolean> {
  const { rows } = await db.query<{ leases: number }>({
    name: 'publish-lease-renew',
    text: `with ${moveLeaseEnds(3)} select count(*)::integer as leases from moved`,
    values: [key.organisationId, key.fhirServerId, ...leaseColumns(key), token, durationMs],
  });
  return rows[0]?.leases === leasedRecords(key).length;
}

/** The lease ends now, so that the next publish can take it. */
export async function giveLeaseBack(db: Queryable, { key, token }: HeldLease): Promise<void> {
  await renewLease(db, { key, token, durationMs: 0 });
}

function leasedRecords({ record, subject }: LeaseKey): ResourceKey[] {
  return subject === undefined ? [record] : [record, subject];
}

/** Types and ids of what is leased, as two lists. */
export function leaseColumns(key: LeaseKey): [string[], string[]] {
  const parts = leasedRecords(key).map(splitKey);
  return [parts.map(({ type }) => type), parts.map(({ id }) => id)];
}

/**
 * SQL of leases: who may publish a record, and those of its patient, to a target now. By the clock of the
 * database.
 * Contract: PUB-33, PUB-36.
 */
import type { Queryable } from '../../platform/db/database.ts';
import type { ResourceKey } from '../plan/content.fhir.ts';
import { splitKey } from '../plan/content.fhir.ts';

export interface LeaseKey {
  organisationId: string;
  targetId: string;
  /** What is leased: a patient with all records, or a record that patients share. */
  record: ResourceKey;
  /** The order or set that is leased with its patient, as `kind/id` (docs/adr/0070). */
  subject?: ResourceKey;
}

/** A lease and what proves that it is ours. */
export interface HeldLease {
  key: LeaseKey;
  token: string;
}

/** True when the lease is ours: nobody had it, or it had run out. Of one record; `publish_begin` takes two. */
export async function takeLease(
  db: Queryable,
  { key, token, durationMs }: HeldLease & { durationMs: number },
): Promise<boolean> {
  const { type, id } = splitKey(key.record);
  const { rowCount } = await db.query({
    name: 'publish-lease-take',
    text: `
      insert into publish_lease as l (organisation_id, target_id, resource_type, record_id, token, leased_until)
      values ($1, $2, $3, $4, $5, clock_timestamp() + $6::integer * interval '1 millisecond')
      on conflict (organisation_id, target_id, resource_type, record_id) do update
      set token = excluded.token,
          leased_until = excluded.leased_until
      where l.leased_until < clock_timestamp()`,
    values: [key.organisationId, key.targetId, type, id, token, durationMs],
  });
  return rowCount === 1;
}

/** False when the lease was lost: it ran out, and someone else took it. */
export async function renewLease(
  db: Queryable,
  key: LeaseKey,
  { token, durationMs }: { token: string; durationMs: number },
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'publish-lease-renew',
    text: `
      update publish_lease
      set leased_until = clock_timestamp() + $6::integer * interval '1 millisecond'
      where organisation_id = $1
        and target_id = $2
        and (resource_type, record_id) in (select type, id from unnest($3::text[], $4::uuid[]) as k (type, id))
        and token = $5`,
    values: [key.organisationId, key.targetId, ...leaseColumns(key), token, durationMs],
  });
  return rowCount === leasedRecords(key).length;
}

export async function giveLeaseBack(db: Queryable, key: LeaseKey, token: string): Promise<void> {
  await db.query({
    name: 'publish-lease-give-back',
    text: `
      delete from publish_lease
      where organisation_id = $1
        and target_id = $2
        and (resource_type, record_id) in (select type, id from unnest($3::text[], $4::uuid[]) as k (type, id))
        and token = $5`,
    values: [key.organisationId, key.targetId, ...leaseColumns(key), token],
  });
}

function leasedRecords({ record, subject }: LeaseKey): ResourceKey[] {
  return subject === undefined ? [record] : [record, subject];
}

/** Types and ids of what is leased, as two lists. */
export function leaseColumns(key: LeaseKey): [string[], string[]] {
  const parts = leasedRecords(key).map(splitKey);
  return [parts.map(({ type }) => type), parts.map(({ id }) => id)];
}

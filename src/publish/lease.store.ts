/** SQL of leases: who may publish a patient's records to a target now. By the clock of the database. */
import type { Queryable } from '../platform/db/database.ts';
import type { ResourceKey } from './content.fhir.ts';
import { splitKey } from './content.fhir.ts';

export interface LeaseKey {
  organisationId: string;
  targetId: string;
  /** What is leased: a patient with all records, or a record that patients share. */
  record: ResourceKey;
}

/** A lease and what proves that it is ours. */
export interface HeldLease {
  key: LeaseKey;
  token: string;
}

/** True when the lease is ours: nobody had it, or it had run out. The same as in `publish_begin`. */
export async function takeLease(
  db: Queryable,
  { key, token, durationMs }: HeldLease & { durationMs: number },
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'publish-lease-take',
    text: `
      insert into publish_lease as l (organisation_id, target_id, resource_type, record_id, token, leased_until)
      values ($1, $2, $3, $4, $5, clock_timestamp() + $6::integer * interval '1 millisecond')
      on conflict (organisation_id, target_id, resource_type, record_id) do update
      set token = excluded.token,
          leased_until = excluded.leased_until
      where l.leased_until < clock_timestamp()`,
    values: [...keyValues(key), token, durationMs],
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
        and resource_type = $3
        and record_id = $4
        and token = $5`,
    values: [...keyValues(key), token, durationMs],
  });
  return rowCount === 1;
}

export async function giveLeaseBack(db: Queryable, key: LeaseKey, token: string): Promise<void> {
  await db.query({
    name: 'publish-lease-give-back',
    text: `
      delete from publish_lease
      where organisation_id = $1
        and target_id = $2
        and resource_type = $3
        and record_id = $4
        and token = $5`,
    values: [...keyValues(key), token],
  });
}

function keyValues({ organisationId, targetId, record }: LeaseKey): unknown[] {
  const { type, id } = splitKey(record);
  return [organisationId, targetId, type, id];
}

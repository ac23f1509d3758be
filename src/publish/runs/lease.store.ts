/**
 * SQL of leases: which publish may send an order, and the records of its patient, to a FHIR server now. All times are
 * by the clock of the database.
 * Contract: PUB-33, PUB-36.
 */
import type { Queryable } from '../../platform/db/database.ts';
import type { ResourceKey } from '../plan/content.fhir.ts';
import { againAfterDeadlock, keyColumns } from '../send/resource.store.ts';

export interface LeaseKey {
  organisationId: string;
  fhirServerId: string;
  /**
   * What is leased together: a patient with all records and the order or set, as `kind/id` (docs/adr/0070), or one
   * record that patients share.
   */
  records: readonly ResourceKey[];
}

/** A lease as it is asked for. */
export interface WantedLease {
  key: LeaseKey;
  /** Proves that it is ours. */
  token: string;
  durationMs: number;
}

/**
 * True when the lease is ours: nobody held it, or it had ended. Of several records all are taken, or none. Whoever has
 * taken it sees, from the next statement on, everything that the last holder recorded (docs/adr/0123).
 */
export async function takeLease(db: Queryable, lease: WantedLease): Promise<boolean> {
  const { key, token, durationMs } = lease;
  const statement = {
    name: 'publish-lease-take',
    text: `
      insert into publish_lease as held (organisation_id, target_id, resource_type, record_id, token, leased_until)
      select $1, $2, wanted.type, wanted.id, $5, clock_timestamp() + $6::integer * interval '1 millisecond'
      from unnest($3::text[], $4::uuid[]) as wanted (type, id)
      -- Who waits only looks.
      where not exists (
        select 1
        from unnest($3::text[], $4::uuid[]) as k (type, id)
        -- limit: one look-up by key for each, whatever the planner takes the size of the table for.
        cross join lateral (
          select l.leased_until
          from publish_lease l
          where l.organisation_id = $1
            and l.target_id = $2
            and l.resource_type = k.type
            and l.record_id = k.id
          limit 1
        ) other
        where other.leased_until > clock_timestamp()
      )
      order by wanted.type, wanted.id
      on conflict (organisation_id, target_id, resource_type, record_id) do update
      set token = excluded.token,
          leased_until = excluded.leased_until
      -- It has ended by now, too. A distributed table compares only what the select has computed.
      where excluded.leased_until - held.leased_until >= $6::integer * interval '1 millisecond'`,
    values: [key.organisationId, key.fhirServerId, ...keyColumns(key.records), token, durationMs],
  };
  const { rowCount } = await againAfterDeadlock(() => db.query(statement));
  if (rowCount === key.records.length) return true;
  // Another publish took one of them in the same moment. Nobody waits for one while holding another. If giving back
  // fails, the lease ends by itself.
  if (rowCount !== 0) await giveLeaseBack(db, lease).catch(() => undefined);
  return false;
}

/** Let the lease end so many milliseconds from now. False when it was lost: it ended, and somebody else took it. */
export async function renewLease(db: Queryable, { key, token, durationMs }: WantedLease): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'publish-lease-renew',
    text: `
      with lease_end as materialized (
        select clock_timestamp() + $6::integer * interval '1 millisecond' as at
      )
      update publish_lease l
      set leased_until = lease_end.at
      from lease_end
      where l.organisation_id = $1
        and l.target_id = $2
        and (l.resource_type, l.record_id) in (select type, id from unnest($3::text[], $4::uuid[]) as k (type, id))
        and l.token = $5`,
    values: [key.organisationId, key.fhirServerId, ...keyColumns(key.records), token, durationMs],
  });
  return rowCount === key.records.length;
}

/** The lease ends now, so that the next publish can take it. */
export async function giveLeaseBack(db: Queryable, lease: Omit<WantedLease, 'durationMs'>): Promise<void> {
  await againAfterDeadlock(() => renewLease(db, { ...lease, durationMs: 0 }));
}

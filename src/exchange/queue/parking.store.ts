/**
 * SQL of parked lanes: they wait for a facility whose exchange module is off. They keep their place. They become due
 * when the module is on again, or when the connection no longer covers the facility and people must decide
 * (docs/adr/0054).
 * Contract: EXC-25.
 */
import type { Queryable } from '../../platform/db/database.ts';
import { covers } from './covers.ts';
import type { ConnectionKey } from './lane.store.ts';

/** Park leased lanes until the module of their facility is on again. */
export async function park(
  db: Queryable,
  key: ConnectionKey,
  lease: { token: string; patientIds: readonly string[] },
): Promise<void> {
  await db.query({
    name: 'exchange-park',
    text: `
      update exchange_head h
      set lease_token = null,
          leased_until = '-infinity',
          due_at = null,
          parked_facility_id = (
            select d.facility_id
            from exchange_delivery d
            where d.organisation_id = $1
              and d.connection_id = $2
              and d.patient_id = h.patient_id
              and d.sequence = h.sequence
          )
      where organisation_id = $1
        and connection_id = $2
        and patient_id = any($3::uuid[])
        and lease_token = $4`,
    values: [key.organisationId, key.connectionId, lease.patientIds, lease.token],
  });
}

/** Facility `f`, of connection `c` in organisation `$1`, for which lanes no longer wait. */
export const REOPENED = `
  (
    exists (
      select from facility_module m
      where m.organisation_id = $1
        and m.facility_id = f.id
        and m.module = 'exchange'
    )
    or not ${covers('f.id')}
  )`;

/** Make up to `limit` parked lanes due whose facility is open again. Returns how many. */
export async function unpark(db: Queryable, key: ConnectionKey, limit: number): Promise<number> {
  const { rowCount } = await db.query({
    name: 'exchange-unpark',
    text: `
      update exchange_head
      set due_at = now(),
          parked_facility_id = null
      where organisation_id = $1
        and connection_id = $2
        and patient_id = any(array(
          select patient_id
          from exchange_head
          where organisation_id = $1
            and connection_id = $2
            and parked_facility_id is not null
            and parked_facility_id = any(array(
              select f.id
              from facility f
              join exchange_connection c
                on c.organisation_id = $1
                and c.id = $2
              where f.organisation_id = $1
                and ${REOPENED}
            ))
          limit $3
          for update skip locked
        ))`,
    values: [key.organisationId, key.connectionId, limit],
  });
  return rowCount ?? 0;
}

/** SQL: whether a connection covers a facility. The lease asks in another way, which reads less (lane.store.ts). */

/** Connection `c` covers the facility that the expression names. */
export function covers(facilityId: string): string {
  return `(
    c.all_facilities
    or exists (
      select from exchange_connection_facility x
      where x.organisation_id = c.organisation_id
        and x.connection_id = c.id
        and x.facility_id = ${facilityId}
    )
  )`;
}

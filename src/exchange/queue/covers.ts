/** SQL of statements whose `$1` is the organisation: whether a connection covers a facility, and whether it may be delivered for. */

/** Connection `c` covers the facility that the expression names. */
export function covers(facilityId: string): string {
  return `(
    c.all_facilities
    or exists (
      select from exchange_connection_facility x
      where x.organisation_id = $1
        and x.connection_id = c.id
        and x.facility_id = ${facilityId}
    )
  )`;
}

/**
 * Of connection `$2` in organisation `$1`, for statements that must not depend on statistics (docs/adr/0020): they
 * read the few rows of the connection once, whatever number of deliveries is asked about.
 */
export function coveredNow(facilityId: string): string {
  return `(
    (
      select all_facilities
      from exchange_connection
      where organisation_id = $1
        and id = $2
    ) or ${facilityId} = any(array(
      select facility_id
      from exchange_connection_facility
      where organisation_id = $1
        and connection_id = $2
    ))
  )`;
}

/** The exchange module is on for the facility, in organisation `$1`. */
export function moduleOn(facilityId: string): string {
  return `${facilityId} = any(array(
    select facility_id
    from facility_module
    where organisation_id = $1
      and module = 'exchange'
  ))`;
}

/** Where a record lives. Every query on a tenant table takes one of these first (design section 4). */
export interface OrganisationScope {
  readonly organisationId: string;
}

export interface FacilityScope extends OrganisationScope {
  readonly facilityId: string;
  /** IANA zone of the facility, for dates without a zone. */
  readonly timeZone: string;
}

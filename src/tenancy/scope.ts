/**
 * Where a record lives. Every query on a tenant table takes one of these first.
 * Contract: ACC-1, ACC-2, ACC-3, SEC-19.
 */
export interface OrganisationScope {
  readonly organisationId: string;
}

/** Where a patient is registered; the time zone does not matter. */
export type RegistrationScope = Pick<FacilityScope, 'organisationId' | 'facilityId'>;

export interface FacilityScope extends OrganisationScope {
  readonly facilityId: string;
  /** IANA zone of the facility, for dates without a zone. */
  readonly timeZone: string;
}

/** A patient as the internal model holds it. */
import type { HeldPatient } from '../clinical/resources/patient.fhir.ts';
import type { Identifier } from '../fhir/coded.ts';
import type { FacilityScope } from '../tenancy/scope.ts';

/** Where a patient is registered; the time zone does not matter. */
export type RegistrationScope = Pick<FacilityScope, 'organisationId' | 'facilityId'>;

/** What the source did not give: an empty list, or null. */
type Filled<Held> = {
  [Name in keyof Held]-?: undefined extends Held[Name]
    ? NonNullable<Held[Name]> extends readonly unknown[]
      ? NonNullable<Held[Name]>
      : NonNullable<Held[Name]> | null
    : Held[Name];
};

export interface PatientRecord extends Filled<Omit<HeldPatient, 'assignedIdentifiers'>> {
  organisationId: string;
  /** Ids that exchanges gave the patient; none when not given. */
  assignedIdentifiers?: Identifier[];
  /** Purposes of use that the patient refuses. */
  refusedPurposes: string[];
  version: number;
  /** FHIR instant of the last change. */
  lastUpdated: string;
}

/** A date of death without the boolean says it too. */
export function isDeceased({ deceasedBoolean, deceasedDateTime }: PatientRecord): boolean {
  return deceasedDateTime !== null || deceasedBoolean === true;
}

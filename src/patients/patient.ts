/** A patient as the internal model holds it. */
import type { CodeableConcept, Identifier, Period } from '../fhir/coded.ts';
import type { Address, ContactPoint, HumanName } from '../fhir/person.ts';
import type { FacilityScope } from '../tenancy/scope.ts';

/** Where a patient is registered; the time zone does not matter. */
export type RegistrationScope = Pick<FacilityScope, 'organisationId' | 'facilityId'>;

export interface PatientCommunication {
  language: CodeableConcept;
  preferred?: boolean;
}

export interface PatientContact {
  relationship?: CodeableConcept[];
  name?: HumanName;
  telecom?: ContactPoint[];
  address?: Address;
  gender?: string;
  period?: Period;
}

export interface PatientRecord {
  organisationId: string;
  id: string;
  active: boolean | null;
  gender: 'male' | 'female' | 'other' | 'unknown' | null;
  /** FHIR date: a year, a month or a day. */
  birthDate: string | null;
  deceasedBoolean: boolean | null;
  deceasedDateTime: string | null;
  maritalStatus: CodeableConcept | null;
  multipleBirthBoolean: boolean | null;
  multipleBirthInteger: number | null;
  communication: PatientCommunication[];
  contacts: PatientContact[];
  names: HumanName[];
  identifiers: Identifier[];
  /** Ids that exchanges gave the patient; none when not given. */
  assignedIdentifiers?: Identifier[];
  telecoms: ContactPoint[];
  addresses: Address[];
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

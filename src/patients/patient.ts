/** A patient as the internal model holds it, and what lists show of it. */
import type { HeldPatient } from '../clinical/resources/patient.fhir.ts';
import type { Identifier } from '../fhir/coded.ts';
import { displayName } from '../fhir/person.ts';
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

/** A patient as a read gives it. `links` are those to patients who may be named to the reader, and to those who are not here. */
export interface LoadedPatient extends Pick<Filled<HeldPatient>, 'id' | 'assignedIdentifiers' | 'links'> {
  organisationId: string;
  /** What the source says, as it is kept (docs/adr/0117). */
  text: string;
  /** The patient who must be used in place of this one, if that patient may be named to the reader. */
  replacedBy: string | null;
  /** Patients whom this one replaces and who may be named to the reader. */
  replaces: string[];
  /** Purposes of use that the patient refuses. */
  refusedPurposes: string[];
  version: number;
  /** FHIR instant of the last change. */
  lastUpdated: string;
}

/** A patient with each element that the source gave. */
export type PatientRecord = Omit<LoadedPatient, 'text'> & Filled<HeldPatient>;

/** What a {@link PatientSummary} is made of: nothing that another record says. */
export type SummarisedPatient = Pick<
  PatientRecord,
  'names' | 'gender' | 'birthDate' | 'deceasedBoolean' | 'deceasedDateTime' | 'identifiers'
>;

/** What lists show of a patient beside its id, the ids that exchanges assigned, and whom it replaces or is replaced by. */
export interface PatientSummary {
  name: string | null;
  gender: PatientRecord['gender'];
  birthDate: string | null;
  deceased: boolean;
  /** Of the source. */
  identifiers: Identifier[];
}

export function summaryOf(patient: SummarisedPatient): PatientSummary {
  const { names, gender, birthDate, deceasedBoolean, deceasedDateTime, identifiers } = patient;
  return {
    name: displayName(names),
    gender,
    birthDate,
    // A date of death without the boolean says it too.
    deceased: deceasedDateTime !== null || deceasedBoolean === true,
    identifiers,
  };
}

/** What a transaction did to a patient, for those who are told of it. */
export interface PatientChange {
  patientId: string;
  event: 'created' | 'updated';
}

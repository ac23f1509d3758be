/** A patient as the internal model holds it. */
import type { HeldPatient } from '../clinical/resources/patient.fhir.ts';

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

/** What a transaction did to a patient, for those who are told of it. */
export interface PatientChange {
  patientId: string;
  event: 'created' | 'updated';
}

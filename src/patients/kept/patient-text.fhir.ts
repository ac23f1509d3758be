/**
 * The text that a patient is kept as, and the answers that are made of it (docs/adr/0117). It has three sections, each the
 * members of a JSON object: what lists show, what one patient's answer has beside that, and what only FHIR says. Pure.
 * Contract: PAT-6, PAT-8.
 */
import {
  ADDRESS,
  CONTACT_POINT,
  HUMAN_NAME,
  IDENTIFIER,
  storedItem,
} from '../../clinical/description/data-type-list.ts';
import type { RecordRow } from '../../clinical/description/describe.ts';
import type { Values } from '../../clinical/description/element.ts';
import { membersAsObjects } from '../../clinical/kept/stored-row.fhir.ts';
import type { HeldPatient } from '../../clinical/resources/patient.fhir.ts';
import type { Identifier } from '../../fhir/coded.ts';
import { displayName } from '../../fhir/person.ts';
import type { LoadedPatient, PatientRecord } from '../patient.ts';

/**
 * The version of what {@link keptPatient} writes. Raise it by one whenever that changes for a patient who stays as he or
 * she is: kept texts of another version are rendered anew (docs/adr/0120). `patient-text.fhir.test.ts` says when it was
 * forgotten.
 */
export const PATIENT_MAPPING = 2;

/** Between two sections: JSON text does not have it. */
export const SECTION_END = { sql: 'chr(29)', text: '\x1d' };

/** What the source says of a patient. What is null in the database is absent. */
export type SourcePatient = Partial<Omit<HeldPatient, 'id' | 'assignedIdentifiers' | 'links'>>;

/** What lists show beside the id, the ids that exchanges assigned, and whom the patient replaces or is replaced by. */
interface Summary extends Pick<PatientRecord, 'gender' | 'birthDate' | 'identifiers'> {
  name: string | null;
  deceased: boolean;
}

/** What one patient's answer has beside what lists show. */
type Details = Omit<
  PatientRecord,
  keyof LoadedPatient | keyof Summary | 'deceasedBoolean' | 'multipleBirthBoolean' | 'multipleBirthInteger'
> & { multipleBirth: boolean | number | null };

type ParsedText = Details & Summary & Pick<SourcePatient, 'deceasedBoolean'>;

export function keptPatient(said: SourcePatient): string {
  const { names = [], deceasedBoolean, deceasedDateTime = null } = said;
  const summary: Summary = {
    name: displayName(names),
    gender: said.gender ?? null,
    birthDate: said.birthDate ?? null,
    // A date of death without the boolean says it too.
    deceased: deceasedDateTime !== null || deceasedBoolean === true,
    identifiers: said.identifiers ?? [],
  };
  const details: Details = {
    active: said.active ?? null,
    deceasedDateTime,
    names,
    telecoms: said.telecoms ?? [],
    addresses: said.addresses ?? [],
    maritalStatus: said.maritalStatus ?? null,
    multipleBirth: said.multipleBirthInteger ?? said.multipleBirthBoolean ?? null,
    communication: said.communication ?? [],
    contacts: said.contacts ?? [],
  };
  return [summary, details, { deceasedBoolean }].map(membersJson).join(SECTION_END.text);
}

function membersJson(object: object): string {
  return JSON.stringify(object).slice(1, -1);
}

/** The record that is read once an import has stored this row. */
export function storedPatient({ values, children }: RecordRow): SourcePatient {
  const { contact: contacts, ...members } = membersAsObjects(values);
  const rowsOf = (table: string) => (children[table] ?? []).map(storedIn);
  return {
    ...members,
    ...(contacts === undefined ? {} : { contacts: contacts as NonNullable<SourcePatient['contacts']> }),
    names: rowsOf('patient_name').map((row) => storedItem(HUMAN_NAME, row)),
    identifiers: rowsOf('patient_identifier').map((row) => storedItem(IDENTIFIER, row)),
    telecoms: rowsOf('patient_telecom').map((row) => storedItem(CONTACT_POINT, row)),
    addresses: rowsOf('patient_address').map((row) => storedItem(ADDRESS, row)),
  };
}

function storedIn(row: Values): (column: string) => unknown {
  return (column) => membersAsObjects({ value: row[column] }).value;
}

/** A patient as a list shows it: `summary` is the first section of its text. */
export type ListedPatient = Pick<LoadedPatient, 'id' | 'assignedIdentifiers' | 'replacedBy' | 'replaces'> & {
  summary: string;
};

/** What lists show of a text. */
export function summarySection(text: string): string {
  return text.split(SECTION_END.text, 1)[0] ?? '';
}

/** What a list shows, as JSON text. */
export function patientSummaryJson(patient: ListedPatient): string {
  return `{${listedMembers(patient)}}`;
}

/** What one patient's answer has, as JSON text. */
export function patientJson({
  text,
  refusedPurposes,
  version,
  lastUpdated,
  ...patient
}: LoadedPatient): string {
  const [summary = '', details = ''] = text.split(SECTION_END.text);
  const end = membersJson({ refusedPurposes, version, updatedAt: lastUpdated });
  return `{${listedMembers({ ...patient, summary })},${details},${end}}`;
}

function listedMembers({ id, summary, assignedIdentifiers, replacedBy, replaces }: ListedPatient): string {
  const members = assignedIdentifiers.length === 0 ? summary : withAssigned(summary, assignedIdentifiers);
  return `"id":"${id}",${members},${membersJson({ replacedBy, replaces })}`;
}

/** The identifiers of the source are the last member. */
function withAssigned(summary: string, assigned: readonly Identifier[]): string {
  const others = assigned.map((identifier) => JSON.stringify(identifier)).join(',');
  return `${summary.slice(0, -1)}${summary.endsWith('[]') ? '' : ','}${others}]`;
}

/** The patient as the internal model holds it. */
export function patientRecord({ text, ...patient }: LoadedPatient): PatientRecord {
  const sections = text.split(SECTION_END.text).filter((members) => members !== '');
  const parsed: ParsedText = JSON.parse(`{${sections.join(',')}}`);
  const { name: _name, deceased: _deceased, multipleBirth, deceasedBoolean = null, ...said } = parsed;
  return {
    ...said,
    deceasedBoolean,
    multipleBirthBoolean: typeof multipleBirth === 'boolean' ? multipleBirth : null,
    multipleBirthInteger: typeof multipleBirth === 'number' ? multipleBirth : null,
    ...patient,
  };
}

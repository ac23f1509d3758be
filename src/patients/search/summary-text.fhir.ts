/** The text that a patient is kept as for lists, and the summary that is answered with it (docs/adr/0117). Pure. */
import { HUMAN_NAME, IDENTIFIER, storedItem } from '../../clinical/description/data-type-list.ts';
import type { RecordRow } from '../../clinical/description/describe.ts';
import type { Values } from '../../clinical/description/element.ts';
import { membersAsObjects } from '../../clinical/kept/stored-row.fhir.ts';
import type { HeldPatient } from '../../clinical/resources/patient.fhir.ts';
import type { Identifier } from '../../fhir/coded.ts';
import { type SummarisedPatient, summaryOf } from '../patient.ts';

/**
 * The version of what {@link keptSummary} writes. Raise it by one whenever that changes for a patient who stays as he or
 * she is: kept texts of another version are rendered anew (docs/adr/0120). `summary-text.fhir.test.ts` says when it was
 * forgotten.
 */
export const PATIENT_MAPPING = 1;

/** What is null in the database is absent. */
export type SummaryRecord = Partial<Pick<HeldPatient, keyof SummarisedPatient>>;

/** The members of the summary that no other record decides, as JSON text. The identifiers of the source are the last. */
export function keptSummary(record: SummaryRecord): string {
  const summary = summaryOf({
    names: record.names ?? [],
    gender: record.gender ?? null,
    birthDate: record.birthDate ?? null,
    deceasedBoolean: record.deceasedBoolean ?? null,
    deceasedDateTime: record.deceasedDateTime ?? null,
    identifiers: record.identifiers ?? [],
  });
  return JSON.stringify(summary).slice(1, -1);
}

/** The record that is read once an import has stored this row. */
export function storedSummary({ values, children }: RecordRow): SummaryRecord {
  return {
    ...membersAsObjects(values),
    names: (children.patient_name ?? []).map((row) => storedItem(HUMAN_NAME, storedIn(row))),
    identifiers: (children.patient_identifier ?? []).map((row) => storedItem(IDENTIFIER, storedIn(row))),
  };
}

function storedIn(row: Values): (column: string) => unknown {
  return (column) => membersAsObjects({ value: row[column] }).value;
}

export interface ListedPatient {
  id: string;
  /** What {@link keptSummary} wrote. */
  kept: string;
  /** Those that exchanges gave the patient. */
  assigned: readonly Identifier[];
  /** The patient who must be used in place of this one, if that patient may be named to the caller. */
  replacedBy: string | null;
  /** Patients whom this one replaces and who may be named to the caller. */
  replaces: readonly string[];
}

/** The summary as JSON text. */
export function patientSummaryJson({ id, kept, assigned, replacedBy, replaces }: ListedPatient): string {
  const members = assigned.length === 0 ? kept : withAssigned(kept, assigned);
  return `{"id":"${id}",${members},"replacedBy":${JSON.stringify(replacedBy)},"replaces":${JSON.stringify(replaces)}}`;
}

function withAssigned(kept: string, assigned: readonly Identifier[]): string {
  const others = assigned.map((identifier) => JSON.stringify(identifier)).join(',');
  return `${kept.slice(0, -1)}${kept.endsWith('[]') ? '' : ','}${others}]`;
}

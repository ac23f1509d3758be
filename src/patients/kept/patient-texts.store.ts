/** Where the text of a patient is kept, and what it is made of (docs/adr/0117). */
import { readRow } from '../../clinical/content/document.ts';
import type { KeptTable } from '../../clinical/kept/kept-texts.store.ts';
import { type HeldPatient, PATIENT } from '../../clinical/resources/patient.fhir.ts';
import { keptPatient, PATIENT_MAPPING, SECTION_END } from './patient-text.fhir.ts';

const ALIAS = 'p';
const FIELDS = PATIENT.fields(ALIAS).filter(({ name }) => name !== 'id');

/** Patients as they are kept. */
export const PATIENT_TEXTS: KeptTable = {
  name: 'patient',
  alias: ALIAS,
  reach: 'organisation',
  mapping: PATIENT_MAPPING,
  fields: FIELDS,
  render: (columns) => keptPatient(readRow(FIELDS, JSON.parse(columns)) as Partial<HeldPatient>),
};

/** SQL of the first section of a text: what lists show. */
export const SUMMARY_SECTION = `split_part(${ALIAS}.rendered, ${SECTION_END.sql}, 1)`;

/**
 * SQL of encounters: what of one is read, and reading by id. The text that is kept beside the columns is read where it
 * counts; elsewhere the columns are, and the text is kept anew (docs/adr/0120).
 * Contract: ACC-3, ENC-9.
 */
import { readRow } from '../clinical/content/document.ts';
import type { RecordKey } from '../clinical/fetch/record-loader.ts';
import type { KeptTable } from '../clinical/kept/kept-texts.store.ts';
import {
  type PackedText,
  packing,
  selectTexts,
  textStatements,
} from '../clinical/kept/packed-texts.store.ts';
import { ENCOUNTER, type EncounterRow } from '../clinical/resources/encounter.fhir.ts';
import type { EarlyAnswer } from '../platform/db/batch.ts';
import { askedRows, rowByKey } from '../platform/db/by-key.ts';
import type { Queryable } from '../platform/db/database.ts';
import { instantFromTimestamp } from '../platform/db/timestamp.ts';
import { createOrganisationBatcher } from '../tenancy/organisations/organisation-batch.ts';
import { ENCOUNTER_MAPPING, encounterElements, type RenderedEncounter } from './encounter.fhir.ts';

export interface LoadedEncounter {
  encounter: RenderedEncounter;
  /** Purposes that the patient refuses. */
  refusedPurposes: readonly string[];
}

const FIELDS = ENCOUNTER.fields('e');
/** Encounters as they are kept; the text is of their elements. */
export const ENCOUNTER_TEXTS: KeptTable = {
  name: 'encounter',
  alias: 'e',
  reach: 'facility',
  mapping: ENCOUNTER_MAPPING,
  fields: FIELDS,
  render: elementsOf,
};
/** `sortStart` is the place of the encounter in a search. */
export const ENCOUNTERS = packing(ENCOUNTER_TEXTS, {
  id: 'e.id',
  version: 'e.version',
  updatedText: 'e.updated_at',
  sortStart: 'e.sort_start',
});
export type PackedEncounter = PackedText<'version' | 'updatedText' | 'sortStart'>;

const READ = textStatements(
  'encounter-read',
  (otherwise) => `
  select asked.place, p.refused_purposes, e.patient_id, ${ENCOUNTERS.sql(otherwise)} as packed
  from ${askedRows({ facility_id: 'uuid', id: 'uuid' })}
  cross join ${rowByKey('encounter', 'e', { facility_id: 'asked.facility_id', id: 'asked.id' })} e
  cross join ${rowByKey('patient', 'p', { id: 'e.patient_id' }, 'p.refused_purposes')} p`,
);

interface ReadRow {
  place: number;
  patient_id: string;
  refused_purposes: string[];
  packed: string;
}

/** Reads by id; those that arrive together share a round trip. Undefined: no such encounter in the scope. */
export function createEncounterReader(
  db: Queryable,
): (key: RecordKey) => Promise<LoadedEncounter | undefined> {
  return createOrganisationBatcher<RecordKey, LoadedEncounter | undefined>({
    load: (organisationId, keys, answer) => loadEncounters(db, organisationId, keys, answer),
    maxKeys: 100,
    maxInFlight: 2,
  });
}

async function loadEncounters(
  db: Queryable,
  organisationId: string,
  keys: readonly RecordKey[],
  answer: EarlyAnswer<LoadedEncounter>,
): Promise<undefined> {
  const selection = {
    packing: ENCOUNTERS,
    statements: READ,
    values: [organisationId, keys.map((key) => key.scope.facilityId), keys.map((key) => key.id)] as const,
    keys,
  };
  await selectTexts<ReadRow, PackedEncounter>(db, selection, (row, texts) => {
    const { place, patient_id: patientId, refused_purposes: refusedPurposes } = row;
    for (const text of texts) answer(place - 1, { encounter: toEncounter(text, patientId), refusedPurposes });
  });
}

export function toEncounter(
  { id, version, updatedText, text }: PackedEncounter,
  patientId: string,
): RenderedEncounter {
  const lastUpdated = instantFromTimestamp(updatedText);
  return { id, patientId, version: Number(version), lastUpdated, elements: text };
}

/** The elements as the columns say them. */
function elementsOf(columns: string, organisationId: string): string {
  const record = readRow(FIELDS, JSON.parse(columns)) as EncounterRow;
  const { start, end } = record;
  const times = { start: start && fhirInstant(start), end: end && fhirInstant(end) };
  return encounterElements({ ...record, ...times } as EncounterRow, organisationId);
}

/** FHIR text as it is; what PostgreSQL wrote, which has a space, as FHIR text. */
function fhirInstant(text: string): string {
  return text.includes(' ') ? instantFromTimestamp(text) : text;
}

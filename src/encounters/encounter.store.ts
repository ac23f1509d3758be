/**
 * SQL of encounters: what of one is read, and reading by id. The text that is kept beside the columns is read where it
 * counts; elsewhere the columns are, and the text is kept anew (docs/adr/0120).
 * Contract: ACC-3, ENC-9.
 */
import { readRow } from '../clinical/content/document.ts';
import {
  columnsSql,
  countsSql,
  type InPlaceOfText,
  type KeptTable,
  keepTexts,
  selectTexts,
  textStatements,
} from '../clinical/kept/kept-texts.store.ts';
import { ENCOUNTER, type EncounterRow } from '../clinical/resources/encounter.fhir.ts';
import { askedRows, rowByKey } from '../platform/db/by-key.ts';
import type { Queryable } from '../platform/db/database.ts';
import { instantFromTimestamp } from '../platform/db/timestamp.ts';
import { createOrganisationBatcher } from '../tenancy/organisations/organisation-batch.ts';
import type { FacilityScope } from '../tenancy/scope.ts';
import { ENCOUNTER_MAPPING, encounterElements, type RenderedEncounter } from './encounter.fhir.ts';

export interface EncounterKey {
  readonly scope: FacilityScope;
  readonly id: string;
}

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
const COUNTS = countsSql(ENCOUNTER_TEXTS);
const COLUMNS = columnsSql(ENCOUNTER_TEXTS);

/** An {@link EncounterSelection} of an encounter named `e` in the organisation `$1`. */
function encounterColumns(otherwise: InPlaceOfText): string {
  return selectList({
    id: 'e.id',
    facilityId: 'e.facility_id',
    patientId: 'e.patient_id',
    version: 'e.version',
    updatedText: 'e.updated_at::text',
    elements: `case when ${COUNTS} then e.rendered end`,
    columns: otherwise === 'columns' ? `case when ${COUNTS} is not true then ${COLUMNS} end` : 'null',
  } satisfies Record<keyof EncounterSelection, string>);
}

/**
 * The same but for facility and patient, as one text that {@link selectionOf} reads: a page of a search is then one value.
 * With it goes `sort_start`, the place of the encounter in a search. Text of JSON has no such separators.
 */
export function encounterText(otherwise: InPlaceOfText): string {
  const inPlace = otherwise === 'columns' ? `chr(31) || ${COLUMNS}` : `''`;
  return `e.id || chr(31) || e.version || chr(31) || e.updated_at || chr(31) || e.sort_start || chr(31)
        || case when ${COUNTS} then e.rendered else ${inPlace} end`;
}
/** Between several of these texts. */
export const SEPARATOR = { sql: 'chr(30)', text: '\x1e' };

export interface EncounterSelection {
  id: string;
  facilityId: string;
  patientId: string;
  version: number;
  updatedText: string;
  /** The kept text; null where none counts. */
  elements: string | null;
  /** What the text is made of, where it does not count. */
  columns: string | null;
}

function selectList(selected: Readonly<Record<string, string>>): string {
  return Object.entries(selected)
    .map(([name, sql]) => `${sql} as "${name}"`)
    .join(', ');
}

/** What an {@link encounterText} says. `sortStart` is as PostgreSQL writes it. */
export function selectionOf(
  text: string,
  owner: { facilityId: string; patientId: string },
): EncounterSelection & { sortStart: string } {
  const [id = '', version, updatedText = '', sortStart = '', kept = '', columns = null] = text.split('\x1f');
  const elements = kept === '' ? null : kept;
  return { ...owner, id, version: Number(version), updatedText, sortStart, elements, columns };
}

const readSql = (otherwise: InPlaceOfText) => `
  select asked.place, p.refused_purposes, ${encounterColumns(otherwise)}
  from ${askedRows({ facility_id: 'uuid', id: 'uuid' })}
  cross join ${rowByKey('encounter', 'e', { facility_id: 'asked.facility_id', id: 'asked.id' })} e
  cross join ${rowByKey('patient', 'p', { id: 'e.patient_id' }, 'p.refused_purposes')} p`;

const READ = textStatements('encounter-read', readSql);

interface ReadRow extends EncounterSelection {
  place: number;
  refused_purposes: string[];
}

/** Keys in one read, and reads under way, at most. */
const MAX_KEYS = 100;
const MAX_IN_FLIGHT = 2;

/** Reads by id; those that arrive together share a round trip. Undefined: no such encounter in the scope. */
export function createEncounterReader(
  db: Queryable,
): (key: EncounterKey) => Promise<LoadedEncounter | undefined> {
  return createOrganisationBatcher<EncounterKey, LoadedEncounter | undefined>({
    load: (organisationId, keys) => loadEncounters(db, organisationId, keys),
    maxKeys: MAX_KEYS,
    maxInFlight: MAX_IN_FLIGHT,
  });
}

async function loadEncounters(
  db: Queryable,
  organisationId: string,
  keys: readonly EncounterKey[],
): Promise<(LoadedEncounter | undefined)[]> {
  const values = [organisationId, keys.map((key) => key.scope.facilityId), keys.map((key) => key.id)];
  const { rows } = await selectTexts(
    READ,
    (statement) => db.query<ReadRow>({ ...statement, values }),
    (selected) => selected.rows.some(lacksText),
  );
  const encounters = await rendered(db, organisationId, rows);
  const loaded = new Array<LoadedEncounter | undefined>(keys.length).fill(undefined);
  for (const [index, { place, refused_purposes: refusedPurposes }] of rows.entries())
    loaded[place - 1] = { encounter: encounters[index] as RenderedEncounter, refusedPurposes };
  return loaded;
}

/** Whether a text does not count, and nothing stands in its place. */
export function lacksText({ elements, columns }: EncounterSelection): boolean {
  return elements === null && columns === null;
}

/** The selected encounters. What had no text that counts is rendered from its columns, and that text is kept. */
export async function rendered(
  db: Queryable,
  organisationId: string,
  rows: readonly EncounterSelection[],
): Promise<RenderedEncounter[]> {
  const anew: EncounterSelection[] = [];
  const encounters = rows.map((row): RenderedEncounter => {
    if (row.elements === null) anew.push(row);
    row.elements ??= elementsOf(row.columns ?? '[]', organisationId);
    return {
      id: row.id,
      patientId: row.patientId,
      version: row.version,
      lastUpdated: instantFromTimestamp(row.updatedText),
      elements: row.elements,
    };
  });
  const texts = anew.map(({ elements, ...row }) => ({ ...row, text: elements ?? '' }));
  await keepTexts(db, ENCOUNTER_TEXTS, organisationId, texts);
  return encounters;
}

/** The elements as the columns say them. */
function elementsOf(columns: string, organisationId: string): string {
  const record = readRow(FIELDS, JSON.parse(columns)) as EncounterRow;
  const { start = null, end = null } = record;
  return encounterElements({ ...record, start: fhirInstant(start), end: fhirInstant(end) }, organisationId);
}

/** FHIR text as it is; what PostgreSQL wrote, which has a space, as FHIR text. */
function fhirInstant(text: string | null): string | null {
  return text?.includes(' ') === true ? instantFromTimestamp(text) : text;
}

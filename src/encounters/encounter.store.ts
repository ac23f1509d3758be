/**
 * SQL of encounters: what of one is read, and reading by id. The text that is kept beside the columns is read where it
 * counts; elsewhere the columns are, and the text is kept anew (docs/adr/0120).
 * Contract: ACC-3, ENC-9.
 */
import { type Field, readRow, rowSql } from '../clinical/content/document.ts';
import { ENCOUNTER, type EncounterRow } from '../clinical/resources/encounter.fhir.ts';
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

const FIELDS: readonly Field[] = ENCOUNTER.fields('e');
const COLUMNS = `${rowSql(FIELDS)}::text`;
const COUNTS = '(e.rendered is not null and e.rendered_version = e.version and e.rendered_mapping = $2)';
const SELECTED: Readonly<Record<keyof EncounterSelection, string>> = {
  id: 'e.id',
  facilityId: 'e.facility_id',
  patientId: 'e.patient_id',
  version: 'e.version',
  updatedText: 'e.updated_at::text',
  elements: `case when ${COUNTS} then e.rendered end`,
  columns: `case when ${COUNTS} is not true then ${COLUMNS} end`,
};
/** An {@link EncounterSelection} of an encounter named `e` in the organisation `$1`; `$2` is the version of the mapping. */
export const ENCOUNTER_COLUMNS = selectList(SELECTED);
/**
 * The same but for facility and patient, as one text that {@link selectionOf} reads: a page of a search is then one value.
 * With it goes `sort_start`, the place of the encounter in a search. Text of JSON has no such separators.
 */
export const ENCOUNTER_TEXT = `concat_ws(chr(31), e.id, e.version, e.updated_at, e.sort_start,
        case when ${COUNTS} then e.rendered else chr(31) || ${COLUMNS} end)`;
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

/** What an {@link ENCOUNTER_TEXT} says. `sortStart` is as PostgreSQL writes it. */
export function selectionOf(
  text: string,
  owner: { facilityId: string; patientId: string },
): EncounterSelection & { sortStart: string } {
  const [id = '', version, updatedText = '', sortStart = '', kept = null, columns = null] =
    text.split('\x1f');
  const elements = columns === null ? kept : null;
  return { ...owner, id, version: Number(version), updatedText, sortStart, elements, columns };
}

const READ = `
  select r.place, p.refused_purposes, ${ENCOUNTER_COLUMNS}
  from unnest($3::uuid[], $4::uuid[]) with ordinality as r (facility_id, id, place)
  join encounter e
    on e.organisation_id = $1
    and e.facility_id = r.facility_id
    and e.id = r.id
  join patient p
    on p.organisation_id = $1
    and p.id = e.patient_id`;

/** Keys in one read, and reads under way, at most. */
const MAX_KEYS = 100;
const MAX_IN_FLIGHT = 2;

/** Reads by id; those that arrive together share a round trip. Undefined: no such encounter in the scope. */
export function createEncounterReader(
  db: Queryable,
  mapping = ENCOUNTER_MAPPING,
): (key: EncounterKey) => Promise<LoadedEncounter | undefined> {
  return createOrganisationBatcher<EncounterKey, LoadedEncounter | undefined>({
    load: (organisationId, keys) => loadEncounters(db, { organisationId, mapping }, keys),
    maxKeys: MAX_KEYS,
    maxInFlight: MAX_IN_FLIGHT,
  });
}

async function loadEncounters(
  db: Queryable,
  rendering: Rendering,
  keys: readonly EncounterKey[],
): Promise<(LoadedEncounter | undefined)[]> {
  const { rows } = await db.query<EncounterSelection & { place: number; refused_purposes: string[] }>({
    name: 'encounter-read',
    text: READ,
    values: [
      rendering.organisationId,
      rendering.mapping,
      keys.map((key) => key.scope.facilityId),
      keys.map((key) => key.id),
    ],
  });
  const encounters = await rendered(db, rendering, rows);
  const loaded = new Array<LoadedEncounter | undefined>(keys.length).fill(undefined);
  for (const [index, { place, refused_purposes: refusedPurposes }] of rows.entries())
    loaded[place - 1] = { encounter: encounters[index] as RenderedEncounter, refusedPurposes };
  return loaded;
}

/** Where a walk over the encounters of an organisation goes on. */
export interface EncounterPlace {
  facilityId: string;
  id: string;
}

/** Encounters after a place, in the order of their keys: their columns, and the text where one counts. */
export async function encountersAfter(
  db: Queryable,
  { organisationId, mapping }: Rendering,
  { after, limit }: { after: EncounterPlace; limit: number },
): Promise<EncounterSelection[]> {
  const { rows } = await db.query<EncounterSelection>({
    name: 'encounters-after',
    text: `
      select ${selectList({ ...SELECTED, columns: COLUMNS })}
      from encounter e
      where e.organisation_id = $1
        and (e.facility_id, e.id) > ($3, $4)
      order by e.facility_id, e.id
      limit $5`,
    values: [organisationId, mapping, after.facilityId, after.id, limit],
  });
  return rows;
}

/** Whose encounters are rendered, and by which version of the mapping. */
export interface Rendering {
  organisationId: string;
  mapping: number;
}

/** The selected encounters. What had no text that counts is rendered from its columns, and that text is kept. */
export async function rendered(
  db: Queryable,
  rendering: Rendering,
  rows: readonly EncounterSelection[],
): Promise<RenderedEncounter[]> {
  const anew: EncounterSelection[] = [];
  const encounters = rows.map((row): RenderedEncounter => {
    if (row.elements === null) {
      row.elements = elementsOf(row, rendering.organisationId);
      anew.push(row);
    }
    return {
      id: row.id,
      patientId: row.patientId,
      version: row.version,
      lastUpdated: instantFromTimestamp(row.updatedText),
      elements: row.elements,
    };
  });
  if (anew.length > 0) await keepTexts(db, rendering, anew);
  return encounters;
}

/** The elements as the columns say them. */
export function elementsOf({ columns }: EncounterSelection, organisationId: string): string {
  const record = readRow(FIELDS, JSON.parse(columns ?? '[]')) as EncounterRow;
  const { start = null, end = null } = record;
  return encounterElements({ ...record, start: fhirInstant(start), end: fhirInstant(end) }, organisationId);
}

/** FHIR text as it is; what PostgreSQL wrote, which has a space, as FHIR text. */
function fhirInstant(text: string | null): string | null {
  return text?.includes(' ') === true ? instantFromTimestamp(text) : text;
}

/**
 * Keep texts of rows that are still the same. A row that another transaction is changing is passed over: its text would
 * not count for long. The text of a newer mapping stays: while two versions of the program run, only one writes.
 */
async function keepTexts(
  db: Queryable,
  { organisationId, mapping }: Rendering,
  texts: readonly EncounterSelection[],
): Promise<void> {
  await db.query({
    name: 'encounter-keep-texts',
    text: `
      update encounter kept
      set rendered = fresh.elements, rendered_version = fresh.version, rendered_mapping = $2
      from (
        select e.facility_id, e.id, e.version, given.elements
        from unnest($3::uuid[], $4::uuid[], $5::bigint[], $6::text[]) as given (facility_id, id, version, elements)
        join encounter e
          on e.organisation_id = $1
          and e.facility_id = given.facility_id
          and e.id = given.id
          and e.version = given.version
        where (e.rendered_version = e.version and e.rendered_mapping > $2) is not true
        for no key update of e skip locked
      ) fresh
      where kept.organisation_id = $1
        and kept.facility_id = fresh.facility_id
        and kept.id = fresh.id`,
    values: [
      organisationId,
      mapping,
      texts.map(({ facilityId }) => facilityId),
      texts.map(({ id }) => id),
      texts.map(({ version }) => version),
      texts.map(({ elements }) => elements),
    ],
  });
}

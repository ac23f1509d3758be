/** SQL of encounters: the columns of one, and reading by id. Contract: ACC-3, ENC-9. */
import { ENCOUNTER } from '../clinical/resources/encounter.fhir.ts';
import type { Queryable } from '../platform/db/database.ts';
import { instantFromTimestamp } from '../platform/db/timestamp.ts';
import { createOrganisationBatcher } from '../tenancy/organisations/organisation-batch.ts';
import type { FacilityScope } from '../tenancy/scope.ts';
import type { EncounterRecord } from './encounter.fhir.ts';

export interface EncounterKey {
  readonly scope: FacilityScope;
  readonly id: string;
}

export interface LoadedEncounter {
  encounter: EncounterRecord;
  /** Purposes that the patient refuses. */
  refusedPurposes: readonly string[];
}

const FIELDS = ENCOUNTER.fields('e');
const SELECTED = [
  ...FIELDS,
  { name: 'version', sql: 'e.version' },
  { name: 'lastUpdated', sql: 'e.updated_at::text' },
];
/** What {@link toEncounter} reads, of an encounter named `e` in the organisation `$1`. */
export const ENCOUNTER_COLUMNS = SELECTED.map(({ name, sql }) => `${sql} as "${name}"`).join(', ');
/** The same of a select list that has been selected, named `page`. */
export const PAGE_COLUMNS = SELECTED.map(({ name }) => `page."${name}"`).join(', ');

const READ = `
  select r.place, p.refused_purposes, ${ENCOUNTER_COLUMNS}
  from unnest($2::uuid[], $3::uuid[]) with ordinality as r (facility_id, id, place)
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
  const { rows } = await db.query<EncounterRecord & { place: number; refused_purposes: string[] }>({
    name: 'encounter-read',
    text: READ,
    values: [organisationId, keys.map((key) => key.scope.facilityId), keys.map((key) => key.id)],
  });
  const loaded = new Array<LoadedEncounter | undefined>(keys.length).fill(undefined);
  for (const row of rows)
    loaded[row.place - 1] = {
      encounter: toEncounter(row),
      refusedPurposes: row.refused_purposes,
    };
  return loaded;
}

const participantsOf = partsReader('participants');
const locationsOf = partsReader('locations');

/** Reads the arrays of columns that parts are selected as. */
function partsReader(name: 'participants' | 'locations') {
  const read = FIELDS.find((field) => field.name === name)?.read;
  return <Parts>(selected: Parts): Parts =>
    selected === null || read === undefined ? selected : (read(selected as never) as Parts);
}

/** The row itself, read: timestamps and parts arrive as PostgreSQL writes them. */
export function toEncounter(row: EncounterRecord): EncounterRecord {
  row.start = fhirInstant(row.start);
  row.end = fhirInstant(row.end);
  row.lastUpdated = instantFromTimestamp(row.lastUpdated);
  row.participants = participantsOf(row.participants ?? null);
  row.locations = locationsOf(row.locations ?? null);
  return row;
}

/** FHIR text as it is; what PostgreSQL wrote, which has a space, as FHIR text. */
function fhirInstant(text: string | null | undefined): string | null {
  return text?.includes(' ') === true ? instantFromTimestamp(text) : (text ?? null);
}

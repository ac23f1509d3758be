/** SQL of encounters: the columns of one, and reading by id. Contract: ACC-3, ENC-9. */
import type { Queryable } from '../platform/db/database.ts';
import { instantFromTimestamp } from '../platform/db/timestamp.ts';
import { createOrganisationBatcher } from '../tenancy/organisations/organisation-batch.ts';
import type { FacilityScope } from '../tenancy/scope.ts';
import type { EncounterLocation, EncounterRecord, EncounterStatus, Participant } from './encounter.fhir.ts';

export interface EncounterKey {
  readonly scope: FacilityScope;
  readonly id: string;
}

export interface LoadedEncounter {
  encounter: EncounterRecord;
  /** Purposes that the patient refuses. */
  refusedPurposes: readonly string[];
}

/** An encounter as it is selected. Coded values and lists arrive as JSON text, timestamps as text. */
export interface EncounterRow {
  id: string;
  patient_id: string;
  status: EncounterStatus;
  class_code: string;
  start_source: string | null;
  start_text: string | null;
  end_source: string | null;
  end_text: string | null;
  identifier: string | null;
  type: string | null;
  priority: string | null;
  reason_code: string | null;
  discharge_disposition: string | null;
  service_provider_id: string | null;
  service_provider_display: string | null;
  version: number;
  updated_text: string;
  participants: string | null;
  locations: string | null;
}

/** What {@link EncounterRow} selects, of an encounter named `e` in the organisation `$1`. */
const SELECTED: Readonly<Record<keyof EncounterRow, string>> = {
  id: 'e.id',
  patient_id: 'e.patient_id',
  status: 'e.status',
  class_code: 'e.class_code',
  start_source: 'e.period_start_source',
  start_text: 'e.period_start::text',
  end_source: 'e.period_end_source',
  end_text: 'e.period_end::text',
  identifier: 'e.identifier::text',
  type: 'e.type::text',
  priority: 'e.priority::text',
  reason_code: 'e.reason_code::text',
  discharge_disposition: 'e.discharge_disposition::text',
  service_provider_id: 'e.service_provider_id',
  service_provider_display: 'e.service_provider_display',
  version: 'e.version',
  updated_text: 'e.updated_at::text',
  participants: `(
    select json_agg(json_build_array(t.practitioner_id, t.display, t.type::text, t.period_start, t.period_end)
      order by t.position)::text
    from encounter_participant t
    where t.organisation_id = $1
      and t.facility_id = e.facility_id
      and t.encounter_id = e.id
  )`,
  locations: `(
    select json_agg(json_build_array(l.location_id, l.display, l.status, l.period_start, l.period_end)
      order by l.position)::text
    from encounter_location l
    where l.organisation_id = $1
      and l.facility_id = e.facility_id
      and l.encounter_id = e.id
  )`,
};
export const ENCOUNTER_COLUMN_NAMES = Object.keys(SELECTED);
export const ENCOUNTER_COLUMNS = Object.entries(SELECTED)
  .map(([name, expression]) => `${expression} as ${name}`)
  .join(', ');

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
  const { rows } = await db.query<EncounterRow & { place: number; refused_purposes: string[] }>({
    name: 'encounter-read',
    text: READ,
    values: [organisationId, keys.map((key) => key.scope.facilityId), keys.map((key) => key.id)],
  });
  const loaded = new Array<LoadedEncounter | undefined>(keys.length).fill(undefined);
  for (const row of rows)
    loaded[row.place - 1] = {
      encounter: toEncounter(organisationId, row),
      refusedPurposes: row.refused_purposes,
    };
  return loaded;
}

export function toEncounter(organisationId: string, row: EncounterRow): EncounterRecord {
  return {
    organisationId,
    id: row.id,
    patientId: row.patient_id,
    status: row.status,
    classCode: row.class_code,
    start: row.start_source ?? instantOrNull(row.start_text),
    end: row.end_source ?? instantOrNull(row.end_text),
    identifier: row.identifier,
    type: row.type,
    priority: row.priority,
    reasonCode: row.reason_code,
    dischargeDisposition: row.discharge_disposition,
    serviceProviderId: row.service_provider_id,
    serviceProviderDisplay: row.service_provider_display,
    participants: row.participants === null ? [] : (JSON.parse(row.participants) as Participant[]),
    locations: row.locations === null ? [] : (JSON.parse(row.locations) as EncounterLocation[]),
    version: row.version,
    lastUpdated: instantFromTimestamp(row.updated_text),
  };
}

function instantOrNull(text: string | null): string | null {
  return text === null ? null : instantFromTimestamp(text);
}

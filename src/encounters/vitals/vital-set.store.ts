/** SQL that reads vital sets with their vital signs. */
import { columns, parts, readRow, rowSql } from '../../observations/document.ts';
import type { Loaded, RecordKey } from '../../observations/loaded.ts';
import { OBSERVATION_FIELDS } from '../../observations/observation.store.ts';
import type { ObservationRecord } from '../../observations/observation.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { createOrganisationBatcher } from '../../tenancy/organisation-batch.ts';

/** The vital signs of one encounter and time. */
export interface VitalSetRecord {
  id: string;
  observations: ObservationRecord[];
}

const OBSERVATIONS = parts(
  'observations',
  OBSERVATION_FIELDS,
  `from observation b
      where b.organisation_id = $1
        and b.facility_id = v.facility_id
        and b.vital_set_id = v.id
        and b.patient_id = v.patient_id`,
  'b.effective_at, b.issued_at, b.id',
);
const FIELDS = [...columns('v', ['id']), OBSERVATIONS];

const LOAD = `
  select asked.place::int as place, v.patient_id, p.refused_purposes, v.version,
    case when v.version is distinct from asked.held_version then ${rowSql(FIELDS)} end as document
  from unnest($2::uuid[], $3::uuid[], $4::bigint[])
    with ordinality as asked (facility_id, id, held_version, place)
  join vital_set v
    on v.organisation_id = $1
    and v.facility_id = asked.facility_id
    and v.id = asked.id
  join patient p
    on p.organisation_id = $1
    and p.id = v.patient_id`;

/** Sets in one load, and loads under way, at most. */
const MAX_KEYS = 100;
const MAX_IN_FLIGHT = 2;

interface VitalSetRow {
  place: number;
  patient_id: string;
  refused_purposes: string[];
  version: number;
  document: unknown[] | null;
}

/** Loads by id; those that arrive together share a round trip. Undefined: no such set in the scope. */
export function createVitalSetLoader(
  db: Queryable,
): (key: RecordKey) => Promise<Loaded<VitalSetRecord> | undefined> {
  return createOrganisationBatcher({
    load: (organisationId, keys: readonly RecordKey[]) => loadVitalSets(db, organisationId, keys),
    maxKeys: MAX_KEYS,
    maxInFlight: MAX_IN_FLIGHT,
  });
}

async function loadVitalSets(
  db: Queryable,
  organisationId: string,
  keys: readonly RecordKey[],
): Promise<(Loaded<VitalSetRecord> | undefined)[]> {
  const { rows } = await db.query<VitalSetRow>({
    name: 'vital-set-load',
    text: LOAD,
    values: [
      organisationId,
      keys.map(({ scope }) => scope.facilityId),
      keys.map(({ id }) => id),
      keys.map(({ heldVersion }) => heldVersion),
    ],
  });
  const loaded = new Array<Loaded<VitalSetRecord> | undefined>(keys.length).fill(undefined);
  for (const row of rows)
    loaded[row.place - 1] = {
      patientId: row.patient_id,
      refusedPurposes: row.refused_purposes,
      version: row.version,
      record: row.document === null ? undefined : toRecord(row.document),
    };
  return loaded;
}

function toRecord(document: unknown[]): VitalSetRecord {
  return { observations: [], ...readRow(FIELDS, document) } as unknown as VitalSetRecord;
}

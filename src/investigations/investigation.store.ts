/** SQL that reads orders with their results, reports and studies. */
import { readRow, rowSql } from '../observations/document.ts';
import type { Loaded, RecordKey } from '../observations/loaded.ts';
import type { Queryable } from '../platform/db/database.ts';
import { createOrganisationBatcher } from '../tenancy/organisation-batch.ts';
import type { FacilityScope } from '../tenancy/scope.ts';
import type { Discipline, InvestigationRecord } from './investigation.ts';
import { INVESTIGATION_FIELDS } from './investigation-fields.ts';

/** What one caller asks for. */
export interface InvestigationKey extends RecordKey {
  discipline: Discipline;
}

const LOAD = `
  select asked.place::int as place, o.patient_id, p.refused_purposes, o.version,
    case when o.version is distinct from asked.held_version then ${rowSql(INVESTIGATION_FIELDS)} end as document
  from unnest($2::uuid[], $3::text[], $4::uuid[], $5::bigint[])
    with ordinality as asked (facility_id, discipline, id, held_version, place)
  join investigation_order o
    on o.organisation_id = $1
    and o.facility_id = asked.facility_id
    and o.id = asked.id
    and o.discipline = asked.discipline
  join patient p
    on p.organisation_id = $1
    and p.id = o.patient_id`;

/** Orders in one load, and loads under way, at most. */
const MAX_KEYS = 100;
const MAX_IN_FLIGHT = 2;

interface InvestigationRow {
  place: number;
  patient_id: string;
  refused_purposes: string[];
  version: number;
  document: unknown[] | null;
}

/**
 * Loads by id; those that arrive together share a round trip. Undefined: no such order of that discipline in
 * the scope.
 */
export function createInvestigationLoader(
  db: Queryable,
): (key: InvestigationKey) => Promise<Loaded<InvestigationRecord> | undefined> {
  return createOrganisationBatcher({
    load: (organisationId, keys: readonly InvestigationKey[]) => loadInvestigations(db, organisationId, keys),
    maxKeys: MAX_KEYS,
    maxInFlight: MAX_IN_FLIGHT,
  });
}

async function loadInvestigations(
  db: Queryable,
  organisationId: string,
  keys: readonly InvestigationKey[],
): Promise<(Loaded<InvestigationRecord> | undefined)[]> {
  const { rows } = await db.query<InvestigationRow>({
    name: 'investigation-load',
    text: LOAD,
    values: [
      organisationId,
      keys.map(({ scope }) => scope.facilityId),
      keys.map(({ discipline }) => discipline),
      keys.map(({ id }) => id),
      keys.map(({ heldVersion }) => heldVersion),
    ],
  });
  const loaded = new Array<Loaded<InvestigationRecord> | undefined>(keys.length).fill(undefined);
  for (const row of rows) loaded[row.place - 1] = toLoaded(row);
  return loaded;
}

function toLoaded(row: InvestigationRow): Loaded<InvestigationRecord> {
  return {
    patientId: row.patient_id,
    refusedPurposes: row.refused_purposes,
    version: row.version,
    record: row.document === null ? undefined : toRecord(row.document),
  };
}

function toRecord(document: unknown[]): InvestigationRecord {
  const none = { observations: [], reports: [], studies: [] };
  return { ...none, ...readRow(INVESTIGATION_FIELDS, document) } as unknown as InvestigationRecord;
}

/** The version of an order; undefined when there is no such order of that discipline in the scope. */
export async function findOrderVersion(
  db: Queryable,
  scope: FacilityScope,
  { orderId, discipline }: { orderId: string; discipline: Discipline },
): Promise<number | undefined> {
  const { rows } = await db.query<{ version: number }>({
    name: 'investigation-version',
    text: `
      select version
      from investigation_order
      where organisation_id = $1
        and facility_id = $2
        and id = $3
        and discipline = $4`,
    values: [scope.organisationId, scope.facilityId, orderId, discipline],
  });
  return rows[0]?.version;
}

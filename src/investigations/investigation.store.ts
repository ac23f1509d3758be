/** SQL that reads orders with all that belongs to them. Contract: ACC-3. */
import {
  createRecordLoader,
  type Loaded,
  type LoadLimits,
  type RecordKey,
  type RecordSource,
} from '../clinical/fetch/record-loader.ts';
import type { Discipline } from '../clinical/resources/discipline.ts';
import { rowByKey } from '../platform/db/by-key.ts';
import type { Queryable } from '../platform/db/database.ts';
import type { FacilityScope } from '../tenancy/scope.ts';
import { type InvestigationRecord, ORDER_NAMES } from './investigation.ts';
import { investigationFields, ORDER_OBSERVATIONS } from './investigation-fields.ts';
import { partsOfOrder } from './parts-of-order.ts';

/** What one caller asks for. */
export interface InvestigationKey extends RecordKey {
  discipline: Discipline;
}

const SOURCE: RecordSource<InvestigationKey> = {
  name: 'investigation-load',
  title: ({ discipline }) => ORDER_NAMES[discipline],
  fields: investigationFields({ lesser: false }),
  observations: ORDER_OBSERVATIONS,
  // Documents are nearly all of a large order, and are written as base64.
  leastBytes: `(
        select coalesce(sum(octet_length(d.content)), 0) / 3 * 4
        from ${partsOfOrder('investigation_report', 'r', 'r.id, r.facility_id')} r
        cross join ${rowByKey('investigation_document', 'd', { facility_id: 'r.facility_id', report_id: 'r.id' }, 'd.content')} d
      )`,
  alias: 'o',
  empty: { specimens: [], observations: [], reports: [], studies: [] },
  joins: `
    cross join ${rowByKey('investigation_order', 'o', { facility_id: 'asked.facility_id', id: 'asked.id', discipline: 'asked.discipline' })} o
    cross join ${rowByKey('patient', 'p', { id: 'o.patient_id' }, 'p.refused_purposes')} p`,
  arrays: { discipline: { type: 'text', value: ({ discipline }) => discipline } },
};

/** Documents come without their contents where all of them are too much for one answer. */
const READABLE: RecordSource<InvestigationKey> = {
  ...SOURCE,
  lesserFields: investigationFields({ lesser: true }),
};

export type InvestigationLoader = (key: InvestigationKey) => Promise<Loaded<InvestigationRecord> | undefined>;

/**
 * Loads by id; those that arrive together share a round trip. Undefined: no such order of that discipline in
 * the scope. An order that is too large comes without the contents of its documents; 422 when it still is too large.
 */
export function createInvestigationLoader(db: Queryable, limits?: LoadLimits): InvestigationLoader {
  return createRecordLoader(db, READABLE, limits);
}

/** The same, but nothing is left out: 422 for an order that is too large with its documents. */
export function createWholeInvestigationLoader(db: Queryable, limits?: LoadLimits): InvestigationLoader {
  return createRecordLoader(db, SOURCE, limits);
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

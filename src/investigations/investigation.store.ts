/** SQL that reads orders with all that belongs to them. Contract: ACC-3. */
import { type Field, parts, readRow, rowSql } from '../clinical/content/document.ts';
import {
  createRecordLoader,
  type Loaded,
  type RecordKey,
  type RecordSource,
} from '../clinical/fetch/record-loader.ts';
import type { ObservationList } from '../clinical/kept/observation-texts.store.ts';
import { DIAGNOSTIC_REPORT } from '../clinical/resources/diagnostic-report.fhir.ts';
import type { Discipline } from '../clinical/resources/discipline.ts';
import { IMAGING_STUDY } from '../clinical/resources/imaging-study.fhir.ts';
import { SERVICE_REQUEST } from '../clinical/resources/service-request.fhir.ts';
import { rowByKey } from '../platform/db/by-key.ts';
import type { Queryable } from '../platform/db/database.ts';
import type { FacilityScope } from '../tenancy/scope.ts';
import { type InvestigationRecord, ORDER_NAMES } from './investigation.ts';
import { partsOfOrder, RESULTS_OF_REPORT } from './parts-of-order.ts';
import { SPECIMENS } from './specimen.store.ts';

/** What one caller asks for. */
export interface InvestigationKey extends RecordKey {
  discipline: Discipline;
}

const ORDER_FIELDS = SERVICE_REQUEST.fields('o');

/** `lesser`: without the contents of documents. */
function reports(options: { lesser: boolean }): Field {
  return parts(
    'reports',
    DIAGNOSTIC_REPORT.fields('r', options),
    `from ${partsOfOrder('investigation_report', 'r')} r
    where r.patient_id = o.patient_id`,
    'r.issued_at, r.id',
  );
}

const STUDIES = parts(
  'studies',
  IMAGING_STUDY.fields('s'),
  `from ${partsOfOrder('imaging_study', 's')} s
    where s.patient_id = o.patient_id`,
  's.started_at, s.id',
);

// What the reports of the order list, in their order, and then what else belongs to it. Whatever grouping made
// of them, nothing of another patient is ever shown: the caller was allowed to see the order's patient only.
const OBSERVATIONS_OF_ORDER: ObservationList = {
  rows: (
    columns,
  ) => `select coalesce(own.text, other.text) as text, coalesce(own.specimen_id, other.specimen_id) as specimen_id,
            listed.place, coalesce(own.effective_at, other.effective_at) as effective_at, coalesce(own.id, other.id) as id
          from (
            select ${columns}, b.effective_at, b.id
            from ${partsOfOrder('observation', 'b')} b
            where b.patient_id = o.patient_id
            offset 0
          ) own
          -- No plan but one by hashes or in order can do this: none compares each row with each other one.
          full join (
            select e.observation_id as id, min(e.position) as place
            from ${partsOfOrder('investigation_report', 'r', 'r.id')} r
            cross join ${RESULTS_OF_REPORT} e
            group by e.observation_id
          ) listed on listed.id = own.id
          left join lateral (
            select ${columns}, b.effective_at, b.id
            from ${rowByKey('observation', 'b', { facility_id: 'o.facility_id', id: 'listed.id' })} b
            where own.id is null
              and b.patient_id = o.patient_id
            offset 0
          ) other on true`,
  order: 'member.place nulls last, member.effective_at, member.id',
};

const ORDER: Field = {
  name: 'order',
  sql: rowSql(ORDER_FIELDS),
  read: (row: unknown[]) => readRow(ORDER_FIELDS, row),
};

/** An order aliased `o` with everything that belongs to it. */
const SOURCE: RecordSource<InvestigationKey> = {
  name: 'investigation-load',
  title: ({ discipline }) => ORDER_NAMES[discipline],
  fields: [ORDER, SPECIMENS, reports({ lesser: false }), STUDIES],
  observations: OBSERVATIONS_OF_ORDER,
  // Documents are nearly all of a large order, and are written as base64.
  leastBytes: `(
        select coalesce(sum(octet_length(d.content)), 0) / 3 * 4
        from ${partsOfOrder('investigation_report', 'r', 'r.id, r.facility_id')} r
        cross join ${rowByKey('investigation_document', 'd', { facility_id: 'r.facility_id', report_id: 'r.id' }, 'd.content')} d
      )`,
  alias: 'o',
  empty: { specimens: [], reports: [], studies: [] },
  joins: `
    cross join ${rowByKey('investigation_order', 'o', { facility_id: 'asked.facility_id', id: 'asked.id', discipline: 'asked.discipline' })} o
    cross join ${rowByKey('patient', 'p', { id: 'o.patient_id' }, 'p.refused_purposes')} p`,
  arrays: { discipline: { type: 'text', value: ({ discipline }) => discipline } },
};

/** Documents come without their contents where all of them are too much for one answer. */
const READABLE: RecordSource<InvestigationKey> = {
  ...SOURCE,
  lesserFields: [ORDER, SPECIMENS, reports({ lesser: true }), STUDIES],
};

export type InvestigationLoader = (key: InvestigationKey) => Promise<Loaded<InvestigationRecord> | undefined>;

/**
 * Loads by id; those that arrive together share a round trip. Undefined: no such order of that discipline in
 * the scope. An order that is too large comes without the contents of its documents; 422 when it still is too large.
 */
export function createInvestigationLoader(db: Queryable): InvestigationLoader {
  return createRecordLoader(db, READABLE);
}

/** The same, but nothing is left out: 422 for an order that is too large with its documents. */
export function createWholeInvestigationLoader(db: Queryable): InvestigationLoader {
  return createRecordLoader(db, SOURCE);
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

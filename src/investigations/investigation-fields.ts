/** Which columns make an order with its specimens, results, reports and studies. */
import { type Field, parts, readRow, rowSql } from '../clinical/content/document.ts';
import type { ObservationList } from '../clinical/kept/observation-texts.store.ts';
import { DIAGNOSTIC_REPORT } from '../clinical/resources/diagnostic-report.fhir.ts';
import { IMAGING_STUDY } from '../clinical/resources/imaging-study.fhir.ts';
import { SERVICE_REQUEST } from '../clinical/resources/service-request.fhir.ts';
import { rowByKey } from '../platform/db/by-key.ts';
import { partsOfOrder, RESULTS_OF_REPORT } from './parts-of-order.ts';
import { SPECIMENS } from './specimen.store.ts';

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
export const ORDER_OBSERVATIONS: ObservationList = {
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

/** The members of an order aliased `o` with everything that belongs to it but observations; `lesser`: without contents of documents. */
export function investigationFields(options: { lesser: boolean }): readonly Field[] {
  return [ORDER, SPECIMENS, reports(options), STUDIES];
}

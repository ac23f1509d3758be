/** Which columns make an order with its specimens, results, reports and studies. */
import { type Field, parts, readRow, rowSql } from '../clinical/content/document.ts';
import type { ObservationList } from '../clinical/kept/observation-texts.store.ts';
import { DIAGNOSTIC_REPORT } from '../clinical/resources/diagnostic-report.fhir.ts';
import { IMAGING_STUDY } from '../clinical/resources/imaging-study.fhir.ts';
import { SERVICE_REQUEST } from '../clinical/resources/service-request.fhir.ts';
import { SPECIMENS } from './specimen.store.ts';

const ORDER_FIELDS = SERVICE_REQUEST.fields('o');

/** `lesser`: without the contents of documents. */
function reports(options: { lesser: boolean }): Field {
  return parts(
    'reports',
    DIAGNOSTIC_REPORT.fields('r', options),
    `from investigation_report r
    where r.organisation_id = $1
      and r.facility_id = o.facility_id
      and r.order_id = o.id
      and r.patient_id = o.patient_id`,
    'r.issued_at, r.id',
  );
}

const STUDIES = parts(
  'studies',
  IMAGING_STUDY.fields('s'),
  `from imaging_study s
    where s.organisation_id = $1
      and s.facility_id = o.facility_id
      and s.order_id = o.id
      and s.patient_id = o.patient_id`,
  's.started_at, s.id',
);

// What the reports of the order list, in their order, and then what else belongs to it. Whatever grouping made
// of them, nothing of another patient is ever shown: the caller was allowed to see the order's patient only.
export const ORDER_OBSERVATIONS: ObservationList = {
  from: `from (
      select member.id, min(member.place) as place
      from (
        select e.observation_id as id, e.position as place
        from investigation_report r
        join investigation_report_result e
          on e.organisation_id = $1
          and e.facility_id = r.facility_id
          and e.report_id = r.id
        where r.organisation_id = $1
          and r.facility_id = o.facility_id
          and r.order_id = o.id
        union all
        select own.id, null
        from observation own
        where own.organisation_id = $1
          and own.facility_id = o.facility_id
          and own.order_id = o.id
      ) member
      group by member.id
    ) listed
    join observation b
      on b.organisation_id = $1
      and b.facility_id = o.facility_id
      and b.id = listed.id
      and b.patient_id = o.patient_id`,
  order: 'listed.place nulls last, b.effective_at, b.id',
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

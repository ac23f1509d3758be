/**
 * SQL that reads what is to be put under orders: reports, studies, and the orders (docs/fhir-mapping.md, "Grouping").
 *
 * An import asks right after it filled tables that had no statistics. The planner then holds every index that leads
 * with the tenant for as good as the key, and one plan that it keeps reads a whole facility for each record. So each
 * look-up is lateral, by a whole key; `offset 0` keeps the planner from turning it round. Members and studies have tables
 * of their own to be found by.
 */

import type { Discipline } from '../clinical/resources/discipline.ts';
import type { CodeableConcept } from '../fhir/coded.ts';
import { rowById, rowByKey } from '../platform/db/by-key.ts';
import type { Queryable } from '../platform/db/database.ts';
import type { FacilityScope } from '../tenancy/scope.ts';

export interface GroupedPart {
  id: string;
  orderId: string | null;
  basedOnId: string | null;
  patientId: string;
  encounterId: string | null;
  status: string;
  code: CodeableConcept | null;
}

export interface GroupedReport extends GroupedPart {
  discipline: Discipline;
  studyIds: string[];
  /** Milliseconds since 1970. */
  issuedAt: number | null;
  /** Orders that its first results name, in their order; empty for a report that names one itself. */
  resultOrderIds: string[];
}

export type GroupedStudy = GroupedPart;

/** Results of one report that are asked for their order, at most. */
export const RESULTS_ASKED = 1_000;

/** Reports of one study that are found by it, at most: the oldest. */
export const REPORTS_OF_STUDY = 1_000;

export const partColumns = (part: string) =>
  `${part}.id, ${part}.order_id as "orderId", ${part}.based_on_id as "basedOnId",
        ${part}.patient_id as "patientId", ${part}.encounter_id as "encounterId", ${part}.status`;

/** These reports, those that list one of these studies, and those that take their order from one of these results. */
export async function reportsToGroup(
  db: Queryable,
  scope: FacilityScope,
  ids: { reports: readonly string[]; studies: readonly string[]; observations: readonly string[] },
): Promise<GroupedReport[]> {
  const { rows } = await db.query<GroupedReport>({
    text: `
      select ${partColumns('r')}, r.code, r.discipline,
        extract(epoch from r.issued_at)::float * 1000 as "issuedAt", r.imaging_study_ids as "studyIds",
        case
          when r.based_on_id is not null then '{}'
          else array(
            select o.based_on_id
            from (
              select e.observation_id, e.position
              from investigation_report_result e
              where e.organisation_id = $1
                and e.facility_id = $2
                and e.report_id = r.id
                and e.position < ${RESULTS_ASKED}
              offset 0
            ) e
            cross join ${rowById('observation', 'o', 'e.observation_id', 'o.based_on_id')} o
            where o.based_on_id is not null
            order by e.position
          )
        end as "resultOrderIds"
      from (
        select unnest($3::uuid[]) as id
        union
        select listing.id
        from unnest($4::uuid[]) as study (id)
        cross join lateral (
          select r.id
          from ${rowByKey('investigation_report_study', 's', { facility_id: '$2', study_id: 'study.id' }, 's.report_id')} naming
          cross join ${rowById('investigation_report', 'r', 'naming.report_id', 'r.id, r.issued_at')} r
          order by r.issued_at, r.id
          limit ${REPORTS_OF_STUDY}
        ) listing
        union
        select listing.report_id
        from unnest($5::uuid[]) as result (id)
        cross join ${rowByKey('investigation_report_result', 'e', { facility_id: '$2', observation_id: 'result.id' }, 'e.report_id, e.position')} listing
        cross join ${rowById('investigation_report', 'r', 'listing.report_id', 'r.based_on_id')} asking
        where listing.position < ${RESULTS_ASKED}
          and asking.based_on_id is null
      ) asked
      cross join ${rowById('investigation_report', 'r', 'asked.id', '*')} r
      order by r.issued_at, r.id`,
    values: [scope.organisationId, scope.facilityId, ids.reports, ids.studies, ids.observations],
  });
  return rows;
}

export async function studiesToGroup(
  db: Queryable,
  scope: FacilityScope,
  ids: readonly string[],
): Promise<GroupedStudy[]> {
  const { rows } = await db.query<GroupedStudy>({
    name: 'grouping-studies',
    text: `
      select ${partColumns('s')}, s.procedure_code -> 0 as code
      from unnest($3::uuid[]) as asked (id)
      cross join ${rowById('imaging_study', 's', 'asked.id', '*')} s
      order by s.id`,
    values: [scope.organisationId, scope.facilityId, ids],
  });
  return rows;
}

export interface KnownOrder {
  id: string;
  madeUp: boolean;
  patientId: string;
}

export async function knownOrders(
  db: Queryable,
  scope: FacilityScope,
  ids: readonly string[],
): Promise<KnownOrder[]> {
  const { rows } = await db.query<KnownOrder>({
    name: 'grouping-orders',
    text: `
      select o.id, o.made_up as "madeUp", o.patient_id as "patientId"
      from unnest($3::uuid[]) as asked (id)
      cross join ${rowById('investigation_order', 'o', 'asked.id', 'o.id, o.made_up, o.patient_id')} o`,
    values: [scope.organisationId, scope.facilityId, ids],
  });
  return rows;
}

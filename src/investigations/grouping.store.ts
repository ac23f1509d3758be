/**
 * SQL that reads what is to be put under orders: reports, studies, results, and the orders (design 3.7).
 *
 * An import asks right after it filled tables that had no statistics. The planner then holds every index that leads
 * with the tenant for as good as the key, and one plan that it keeps reads a whole facility for each record. So each
 * look-up is lateral, by a whole key; `offset 0` keeps the planner from turning it round, and keeps the tenant out of
 * a search by member or study, which only an index of its own can answer.
 */
import type { CodeableConcept } from '../fhir/coded.ts';
import type { Queryable } from '../platform/db/database.ts';
import type { FacilityScope } from '../tenancy/scope.ts';
import type { Discipline } from './investigation.ts';

interface GroupedPart {
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
  resultIds: string[];
}

export type GroupedStudy = GroupedPart;

export interface GroupedObservation extends GroupedPart {
  kind: string;
  memberIds: string[];
}

const partColumns = (part: string) =>
  `${part}.id, ${part}.order_id as "orderId", ${part}.based_on_id as "basedOnId",
        ${part}.patient_id as "patientId", ${part}.encounter_id as "encounterId", ${part}.status`;

/** These reports, and those that list one of these studies or results. */
export async function reportsToGroup(
  db: Queryable,
  scope: FacilityScope,
  ids: { reports: readonly string[]; studies: readonly string[]; observations: readonly string[] },
): Promise<GroupedReport[]> {
  const { rows } = await db.query<GroupedReport>({
    text: `
      select ${partColumns('r')}, r.code, r.discipline, r.imaging_study_ids as "studyIds",
        array(
          select e.observation_id
          from investigation_report_result e
          where e.organisation_id = r.organisation_id
            and e.facility_id = r.facility_id
            and e.report_id = r.id
            and e.observation_id is not null
          order by e.position
        ) as "resultIds"
      from (
        select unnest($3::uuid[]) as id
        union
        select listing.id
        from unnest($4::uuid[]) as study (id)
        cross join lateral (
          select r.organisation_id, r.facility_id, r.id
          from investigation_report r
          where r.imaging_study_ids @> array[study.id]
          offset 0
        ) listing
        where listing.organisation_id = $1
          and listing.facility_id = $2
        union
        select listing.report_id
        from unnest($5::uuid[]) as result (id)
        cross join lateral (
          select e.report_id
          from investigation_report_result e
          where e.organisation_id = $1
            and e.facility_id = $2
            and e.observation_id = result.id
          offset 0
        ) listing
      ) asked
      cross join lateral (
        select *
        from investigation_report r
        where r.organisation_id = $1
          and r.facility_id = $2
          and r.id = asked.id
        offset 0
      ) r
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
      cross join lateral (
        select *
        from imaging_study s
        where s.organisation_id = $1
          and s.facility_id = $2
          and s.id = asked.id
        offset 0
      ) s
      order by s.id`,
    values: [scope.organisationId, scope.facilityId, ids],
  });
  return rows;
}

/** These observations, the members of those among them that are panels, and the panels that they are in. */
export async function observationsToGroup(
  db: Queryable,
  scope: FacilityScope,
  ids: readonly string[],
): Promise<GroupedObservation[]> {
  const { rows } = await db.query<GroupedObservation>({
    text: `
      select ${partColumns('o')}, o.code, o.kind, o.has_member_ids as "memberIds"
      from (
        select unnest($3::uuid[]) as id
        union
        select member.id
        from unnest($3::uuid[]) as asked (id)
        cross join lateral (
          select unnest(panel.has_member_ids) as id
          from observation panel
          where panel.organisation_id = $1
            and panel.facility_id = $2
            and panel.id = asked.id
          offset 0
        ) member
        union
        select panel.id
        from unnest($3::uuid[]) as asked (id)
        cross join lateral (
          select panel.organisation_id, panel.facility_id, panel.id
          from observation panel
          where panel.has_member_ids <> '{}'
            and panel.has_member_ids @> array[asked.id]
          offset 0
        ) panel
        where panel.organisation_id = $1
          and panel.facility_id = $2
      ) asked
      cross join lateral (
        select *
        from observation o
        where o.organisation_id = $1
          and o.facility_id = $2
          and o.id = asked.id
        offset 0
      ) o
      order by o.id`,
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
      cross join lateral (
        select o.id, o.made_up, o.patient_id
        from investigation_order o
        where o.organisation_id = $1
          and o.facility_id = $2
          and o.id = asked.id
        offset 0
      ) o`,
    values: [scope.organisationId, scope.facilityId, ids],
  });
  return rows;
}

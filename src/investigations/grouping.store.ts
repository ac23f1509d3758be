/** SQL that reads what is to be put under orders: reports, studies, results, and the orders (design 3.7). */
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

const PART_COLUMNS = `id, order_id as "orderId", based_on_id as "basedOnId", patient_id as "patientId",
        encounter_id as "encounterId", status`;

/** These reports, and those that list one of these studies or results. */
export async function reportsToGroup(
  db: Queryable,
  scope: FacilityScope,
  ids: { reports: readonly string[]; studies: readonly string[]; observations: readonly string[] },
): Promise<GroupedReport[]> {
  const { rows } = await db.query<GroupedReport>({
    name: 'grouping-reports',
    text: `
      select ${PART_COLUMNS}, code, discipline, imaging_study_ids as "studyIds",
        array(
          select e.observation_id
          from investigation_report_result e
          where e.organisation_id = r.organisation_id
            and e.facility_id = r.facility_id
            and e.report_id = r.id
            and e.observation_id is not null
          order by e.position
        ) as "resultIds"
      from investigation_report r
      where r.organisation_id = $1
        and r.facility_id = $2
        and r.id in (
          select unnest($3::uuid[])
          union all
          select listing.id
          from investigation_report listing
          where listing.organisation_id = $1
            and listing.facility_id = $2
            and listing.imaging_study_ids && $4::uuid[]
          union all
          select e.report_id
          from investigation_report_result e
          where e.organisation_id = $1
            and e.facility_id = $2
            and e.observation_id = any($5::uuid[])
        )
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
      select ${PART_COLUMNS}, procedure_code -> 0 as code
      from imaging_study
      where organisation_id = $1
        and facility_id = $2
        and id = any($3::uuid[])
      order by id`,
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
    name: 'grouping-observations',
    text: `
      select ${PART_COLUMNS}, code, kind, has_member_ids as "memberIds"
      from observation
      where organisation_id = $1
        and facility_id = $2
        and id in (
          select unnest($3::uuid[])
          union all
          select unnest(panel.has_member_ids)
          from observation panel
          where panel.organisation_id = $1
            and panel.facility_id = $2
            and panel.id = any($3::uuid[])
          union all
          select panel.id
          from observation panel
          where panel.organisation_id = $1
            and panel.facility_id = $2
            and panel.has_member_ids <> '{}'
            and panel.has_member_ids && $3::uuid[]
        )
      order by id`,
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
      select id, made_up as "madeUp", patient_id as "patientId"
      from investigation_order
      where organisation_id = $1
        and facility_id = $2
        and id = any($3::uuid[])`,
    values: [scope.organisationId, scope.facilityId, ids],
  });
  return rows;
}

/** SQL that tells by which fetches a resource goes out: its orders, its vital set, or both (docs/adr/0094). */
import { rowByKey } from '../../platform/db/by-key.ts';
import type { Queryable } from '../../platform/db/database.ts';
import type { FacilityScope } from '../../tenancy/scope.ts';
import type { Discipline } from '../resources/discipline.ts';

/** Types that are entries of the Bundles of "Fetch as FHIR". */
export const FETCHED_TYPES = [
  'ServiceRequest',
  'Specimen',
  'Observation',
  'ImagingStudy',
  'DiagnosticReport',
] as const;
export type FetchedType = (typeof FETCHED_TYPES)[number];

export interface ResourceOwner {
  /** An order that shows it, for each discipline that has one. */
  orderIds: Readonly<Partial<Record<Discipline, string>>>;
  vitalSetId: string | null;
}

const IN_SCOPE = `
  where part.organisation_id = $1
    and part.facility_id = $2
    and part.id = $3`;

const WITH_ORDER = `
  left join ${rowByKey('investigation_order', 'o', { facility_id: 'part.facility_id', id: 'part.order_id' }, 'o.discipline')} o on true`;

/**
 * SQL of the ids of the orders that show a specimen, because they, their results, their reports or results that these
 * list name it. `specimenId` (as text) and `facilityId` are SQL too.
 */
export function ordersShowing(specimenId: string, facilityId: string): string {
  const lists = `jsonb_build_array(jsonb_build_object('id', ${specimenId}))`;
  return `select b.order_id
    from observation b
    where b.organisation_id = $1
      and b.facility_id = ${facilityId}
      and b.specimen ->> 'id' = ${specimenId}
      and b.order_id is not null
    union
    select r.order_id
    from (
      select b.id, b.patient_id
      from observation b
      where b.organisation_id = $1
        and b.facility_id = ${facilityId}
        and b.specimen ->> 'id' = ${specimenId}
      offset 0
    ) b
    cross join ${reportsListing('b.id', facilityId)}
    where r.order_id is not null
      and r.patient_id = b.patient_id
    union
    select o.id
    from investigation_order o
    where o.organisation_id = $1
      and o.facility_id = ${facilityId}
      and o.specimen @> ${lists}
    union
    select r.order_id
    from investigation_report r
    where r.organisation_id = $1
      and r.facility_id = ${facilityId}
      and r.specimen @> ${lists}
      and r.order_id is not null`;
}

/** From-clause of the reports `r` that list a result. Both ids are SQL. */
export function reportsListing(observationId: string, facilityId: string): string {
  return `${rowByKey('investigation_report_result', 'e', { facility_id: facilityId, observation_id: observationId }, 'e.report_id')} e
    cross join ${rowByKey('investigation_report', 'r', { facility_id: facilityId, id: 'e.report_id' }, 'r.id, r.order_id, r.issued_at, r.patient_id')} r`;
}

/**
 * Joins to `part` the orders that show it, `shown`: one of each discipline. `orderIds` is SQL of their ids; of several the
 * one that the part is `under` counts.
 */
function withOrders(orderIds: string, under = 'null::uuid'): string {
  return `
  left join lateral (
    select distinct on (o.discipline) o.id as order_id, o.discipline
    from (
      ${orderIds}
    ) named (order_id)
    cross join ${rowByKey('investigation_order', 'o', { facility_id: 'part.facility_id', id: 'named.order_id' }, 'o.id, o.patient_id, o.discipline')} o
    where o.patient_id = part.patient_id
    order by o.discipline, o.id is not distinct from ${under} desc, o.id
  ) shown on true`;
}

const OWNERS: Readonly<Record<FetchedType, string>> = {
  ServiceRequest: `
  select part.id as order_id, part.discipline, null as vital_set_id
  from investigation_order part`,
  Specimen: `
  select shown.order_id, shown.discipline, null as vital_set_id
  from specimen part${withOrders(ordersShowing('part.id::text', 'part.facility_id'))}`,
  // Beside the order that it is under, the orders whose reports list it show it.
  Observation: `
  select shown.order_id, shown.discipline, part.vital_set_id
  from observation part${withOrders(
    `select part.order_id
      union
      select r.order_id
      from ${reportsListing('part.id', 'part.facility_id')}`,
    'part.order_id',
  )}`,
  ImagingStudy: `
  select part.order_id, o.discipline, null as vital_set_id
  from imaging_study part${WITH_ORDER}`,
  DiagnosticReport: `
  select part.order_id, o.discipline, null as vital_set_id
  from investigation_report part${WITH_ORDER}`,
};

/** Undefined: no such resource in the scope. */
export async function findResourceOwner(
  db: Queryable,
  { organisationId, facilityId }: FacilityScope,
  { resourceType, id }: { resourceType: FetchedType; id: string },
): Promise<ResourceOwner | undefined> {
  const { rows } = await db.query<{
    order_id: string | null;
    discipline: Discipline | null;
    vital_set_id: string | null;
  }>({
    name: `owner-of-${resourceType}`,
    text: OWNERS[resourceType] + IN_SCOPE,
    values: [organisationId, facilityId, id],
  });
  const [first] = rows;
  if (first === undefined) return undefined;
  const orders = rows.flatMap(({ order_id: id, discipline }) =>
    id === null || discipline === null ? [] : [[discipline, id] as const],
  );
  return { orderIds: Object.fromEntries(orders), vitalSetId: first.vital_set_id };
}

/** SQL that reads the results to be put under orders, and what tells the order of each (see grouping.store.ts). */
import { reportsListing } from '../clinical/fetch/resource-owner.store.ts';
import type { CodeableConcept } from '../fhir/coded.ts';
import { rowById, rowByKey } from '../platform/db/by-key.ts';
import type { Queryable } from '../platform/db/database.ts';
import type { FacilityScope } from '../tenancy/scope.ts';
import { type GroupedPart, partColumns } from './grouping.store.ts';

/** A result as far as it tells of an order that is made for it. */
export interface StandingResult extends GroupedPart {
  facilityId: string;
  memberIds: string[];
  specimenId: string | null;
  /** Seconds since 1970, with all digits; null where the day is not known. */
  effectiveAt: string | null;
}

export interface GroupedObservation extends StandingResult {
  kind: string;
  vitalSign: boolean;
  category: CodeableConcept[] | null;
  /** Orders of the reports that list it, the oldest report first; also of the patient whom it was about before. */
  reportOrderIds: string[];
}

const standingColumns = (
  result: string,
) => `${partColumns(result)}, ${result}.facility_id as "facilityId", ${result}.code,
        ${result}.has_member_ids as "memberIds", ${result}.specimen ->> 'id' as "specimenId",
        case
          when length(coalesce(${result}.effective_start, ${result}.effective_end)) >= length('2000-01-01')
          then extract(epoch from ${result}.effective_at)::text
        end as "effectiveAt"`;

export async function observationsToGroup(
  db: Queryable,
  scope: FacilityScope,
  ids: readonly string[],
): Promise<GroupedObservation[]> {
  const { rows } = await db.query<GroupedObservation>({
    name: 'grouping-observations',
    text: `
      select ${standingColumns('o')}, o.kind, o.vital_sign as "vitalSign", o.category,
        array(
          select r.order_id
          from ${reportsListing('o.id', '$2')}
          where r.order_id is not null
          order by r.issued_at, r.id
        ) as "reportOrderIds"
      from unnest($3::uuid[]) as asked (id)
      cross join ${rowById('observation', 'o', 'asked.id', '*')} o
      order by o.id`,
    values: [scope.organisationId, scope.facilityId, ids],
  });
  return rows;
}

/** All results under these orders. */
export async function resultsUnder(
  db: Queryable,
  scope: FacilityScope,
  orderIds: readonly string[],
): Promise<StandingResult[]> {
  const { rows } = await db.query<StandingResult>({
    name: 'grouping-results-under',
    text: `
      select ${standingColumns('o')}
      from unnest($3::uuid[]) as asked (id)
      cross join ${rowByKey('observation', 'o', { facility_id: '$2', order_id: 'asked.id' })} o
      order by o.id`,
    values: [scope.organisationId, scope.facilityId, orderIds],
  });
  return rows;
}

export interface PanelOf {
  memberId: string;
  panelId: string;
}

/** The panel that each of these observations is a member of: of several of its patient, the one with the lowest id. */
export async function panelsOf(
  db: Queryable,
  scope: FacilityScope,
  ids: readonly string[],
): Promise<PanelOf[]> {
  // Without a name: it is planned for the size that the table has now.
  const { rows } = await db.query<PanelOf>({
    text: `
      select member.id as "memberId", panel.id as "panelId"
      from unnest($3::uuid[]) as asked (id)
      cross join ${rowById('observation', 'o', 'asked.id', 'o.id, o.patient_id')} member
      cross join lateral (
        select found.id
        from ${rowByKey('observation_member', 'm', { facility_id: '$2', member_id: 'member.id' }, 'm.observation_id')} naming
        cross join ${rowById('observation', 'panel', 'naming.observation_id', 'panel.id, panel.patient_id')} found
        where found.patient_id = member.patient_id
          and found.id <> member.id
        order by found.id
        limit 1
      ) panel`,
    values: [scope.organisationId, scope.facilityId, ids],
  });
  return rows;
}

/** Results that these reports list; `limit` of them at most, null for all. */
export async function resultsOf(
  db: Queryable,
  scope: FacilityScope,
  reportIds: readonly string[],
  limit: number | null,
): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>({
    name: 'grouping-results-of',
    text: `
      select listed.observation_id as id
      from unnest($3::uuid[]) as asked (id)
      cross join ${rowByKey('investigation_report_result', 'e', { facility_id: '$2', report_id: 'asked.id' }, 'e.observation_id')} listed
      -- Out here: inside, it would lead to the index of results, which reads the whole facility.
      where listed.observation_id is not null
      limit $4`,
    values: [scope.organisationId, scope.facilityId, reportIds, limit],
  });
  return rows.map(({ id }) => id);
}

export interface PartIds {
  reports: ReadonlySet<string>;
  studies: ReadonlySet<string>;
  observations: ReadonlySet<string>;
}

const TABLES = {
  reports: 'investigation_report',
  studies: 'imaging_study',
  observations: 'observation',
} as const satisfies Record<keyof PartIds, string>;

/**
 * What is under the orders of these parts without naming them itself: what may have to leave, now that a part may
 * not list it any more. A result that names its order leaves it too where a report of another order lists it. `limit` of
 * them at most.
 */
export async function partsSharingOrders(
  db: Queryable,
  scope: FacilityScope,
  { reports, studies, observations }: PartIds,
  limit: number,
): Promise<PartIds> {
  const { rows } = await db.query<FoundPart>({
    name: 'grouping-sharing',
    text: `
      select found.kind, found.id
      from (
        ${ordersOf('reports', 3)}
        union
        ${ordersOf('studies', 4)}
        union
        ${ordersOf('observations', 5)}
      ) as shared (id)
      cross join lateral (
        ${underOrder('reports', 'shared', NAMES_ANOTHER)}
        union all
        ${underOrder('studies', 'shared', NAMES_ANOTHER)}
        union all
        ${underOrder('observations', 'shared', `(${NAMES_ANOTHER} or ${IS_LISTED_ELSEWHERE})`)}
      ) found
      limit $6`,
    values: [scope.organisationId, scope.facilityId, [...reports], [...studies], [...observations], limit],
  });
  return byKind(rows);
}

/**
 * Of orders that turned out to be another patient's: what is under them and has to leave, and what names them and may come,
 * as it is about the same patient now. The latter is under orders that were made up for it. `limit` of them at most.
 */
export async function partsOfReassigned(
  db: Queryable,
  scope: FacilityScope,
  orderIds: ReadonlySet<string>,
  limit: number,
): Promise<PartIds> {
  if (orderIds.size === 0) return byKind([]);
  const { rows } = await db.query<FoundPart>({
    name: 'grouping-reassigned',
    text: `
      select found.kind, found.id
      from unnest($3::uuid[]) as asked (id)
      cross join ${rowById('investigation_order', 'o', 'asked.id', 'o.id, o.patient_id')} shared
      cross join lateral (
        ${ofEachKind((kind) => underOrder(kind, 'shared', OF_ANOTHER))}
        union all
        ${ofEachKind(namingOrder)}
      ) found
      limit $4`,
    values: [scope.organisationId, scope.facilityId, [...orderIds], limit],
  });
  return byKind(rows);
}

interface FoundPart {
  kind: keyof PartIds;
  id: string;
}

function byKind(rows: readonly FoundPart[]): PartIds {
  const of = (kind: keyof PartIds) => new Set(rows.filter((row) => row.kind === kind).map(({ id }) => id));
  return { reports: of('reports'), studies: of('studies'), observations: of('observations') };
}

function ordersOf(kind: keyof PartIds, place: number): string {
  return `select part.order_id
        from unnest($${place}::uuid[]) as asked (id)
        cross join ${rowById(TABLES[kind], 'part', 'asked.id', 'part.order_id')} part
        where part.order_id is not null`;
}

const OF_ANOTHER = 'part.patient_id <> shared.patient_id';
const NAMES_ANOTHER = 'part.based_on_id is distinct from part.order_id';
const IS_LISTED_ELSEWHERE = `exists (
            select 1
            from ${reportsListing('part.id', '$2')}
            where r.order_id <> part.order_id
          )`;

/** Parts under the order `order`, a table of the statement. */
function underOrder(kind: keyof PartIds, order: string, condition: string): string {
  return `select '${kind}' as kind, part.id
        from ${rowByKey(TABLES[kind], 'part', { facility_id: '$2', order_id: `${order}.id` })} part
        where ${condition}`;
}

/** Parts under made-up orders of the patient of `shared`, which they name. */
function namingOrder(kind: keyof PartIds): string {
  return `select under.kind, under.id
        from ${rowByKey('investigation_order', 'own', { facility_id: '$2', patient_id: 'shared.patient_id' }, 'own.id, own.made_up')} own
        cross join lateral (
          ${underOrder(kind, 'own', 'part.based_on_id = shared.id')}
        ) under
        where own.made_up`;
}

function ofEachKind(sql: (kind: keyof PartIds) => string): string {
  return Object.keys(TABLES)
    .map((kind) => sql(kind as keyof PartIds))
    .join(`
        union all
        `);
}

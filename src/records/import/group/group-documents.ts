/** Puts reports and studies under orders. */
import {
  type GroupedReport,
  type GroupedStudy,
  knownOrders,
  reportsToGroup,
  studiesToGroup,
} from '../../../investigations/grouping.store.ts';
import { writeMadeUpOrders } from '../../../investigations/place-parts.store.ts';
import type { PartIds } from '../../../investigations/result-grouping.store.ts';
import type { Client } from '../../../platform/db/database.ts';
import type { FacilityScope } from '../../../tenancy/scope.ts';
import { assignDocuments, madeUpId } from './assign-orders.ts';
import { batchesOf, inBatches } from './batches.ts';
import { madeUpOrders, type Standing } from './made-up-orders.ts';
import { type LeftOrders, move } from './move-parts.ts';

/**
 * Put these reports and studies under their orders, with the reports that take theirs from these results, and with what
 * lists, or is listed by, any of them. It follows lists until it has `limit` more than asked for. Returns the reports
 * that moved to another order. Orders that lost a part, got one, or have one that changed join `affected`.
 */
export async function groupDocuments(
  client: Client,
  scope: FacilityScope,
  request: { asked: PartIds; touched: PartIds; limit: number; affected: Set<string>; left: LeftOrders },
): Promise<string[]> {
  const { touched, affected, left } = request;
  const { reports, studies } = await loadDocuments(client, scope, request);
  const named = [...reports, ...studies].flatMap(({ basedOnId, orderId }) => [basedOnId, orderId]);
  const orderIds = new Set([
    ...named.filter((id) => id !== null),
    ...reports.flatMap(({ id, resultOrderIds }) => [madeUpId('DiagnosticReport', id), ...resultOrderIds]),
    ...studies.map(({ id }) => madeUpId('ImagingStudy', id)),
  ]);
  const orders = await inBatches([...orderIds], (ids) => knownOrders(client, scope, ids));
  const known = new Map(orders.map((order) => [order.id, order]));
  const assigned = assignDocuments({ reports, studies }, (id) => known.get(id)?.patientId);
  const candidates: Standing[] = [
    ...reports.map((part) => ({ part, orderId: assigned.get(part.id), discipline: part.discipline })),
    ...studies.map((part) => ({ part, orderId: assigned.get(part.id), discipline: 'imaging' as const })),
  ];
  const madeUp = madeUpOrders(candidates, (id) => known.get(id)?.madeUp ?? true);
  for (const some of batchesOf(madeUp)) await writeMadeUpOrders(client, scope, some);
  await move(client, scope, {
    table: 'imaging_study',
    rows: studies,
    changed: touched.studies,
    assigned,
    affected,
    left,
  });
  const { reports: changed } = touched;
  return move(client, scope, {
    table: 'investigation_report',
    rows: reports,
    changed,
    assigned,
    affected,
    left,
  });
}

async function loadDocuments(
  client: Client,
  scope: FacilityScope,
  { asked, limit }: { asked: PartIds; limit: number },
): Promise<{ reports: GroupedReport[]; studies: GroupedStudy[] }> {
  const reports = new Map<string, GroupedReport>();
  const studies = new Set<string>();
  const most = asked.reports.size + asked.studies.size + limit;
  let next = {
    reports: [...asked.reports],
    studies: [...asked.studies],
    observations: [...asked.observations],
  };
  // Reports bring the studies that they list; those bring the other reports that list them, and so on.
  do {
    for (const id of next.studies) studies.add(id);
    for (const report of await loadReports(client, scope, next)) reports.set(report.id, report);
    const listed = new Set([...reports.values()].flatMap(({ studyIds }) => studyIds));
    next = { reports: [], studies: [...listed].filter((id) => !studies.has(id)), observations: [] };
  } while (next.studies.length > 0 && reports.size + studies.size < most);
  return {
    // In the order that the database gives them: by time of issue, then by id.
    reports: [...reports.values()].sort(byIssue),
    studies: await inBatches([...studies], (ids) => studiesToGroup(client, scope, ids)),
  };
}

async function loadReports(
  client: Client,
  scope: FacilityScope,
  { reports, studies, observations }: { reports: string[]; studies: string[]; observations: string[] },
): Promise<GroupedReport[]> {
  const none = { reports: [], studies: [], observations: [] };
  return [
    ...(await inBatches(reports, (ids) => reportsToGroup(client, scope, { ...none, reports: ids }))),
    ...(await inBatches(studies, (ids) => reportsToGroup(client, scope, { ...none, studies: ids }))),
    ...(await inBatches(observations, (ids) =>
      reportsToGroup(client, scope, { ...none, observations: ids }),
    )),
  ];
}

function byIssue(a: GroupedReport, b: GroupedReport): number {
  if (a.issuedAt === b.issuedAt) return a.id < b.id ? -1 : 1;
  return (a.issuedAt ?? Number.POSITIVE_INFINITY) - (b.issuedAt ?? Number.POSITIVE_INFINITY);
}

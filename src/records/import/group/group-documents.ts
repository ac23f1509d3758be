/** Puts reports and studies under orders. */
import {
  type GroupedReport,
  knownOrders,
  reportsToGroup,
  studiesToGroup,
} from '../../../investigations/grouping.store.ts';
import { writeMadeUpOrders } from '../../../investigations/place-parts.store.ts';
import type { PartIds } from '../../../investigations/result-grouping.store.ts';
import type { Client } from '../../../platform/db/database.ts';
import type { FacilityScope } from '../../../tenancy/scope.ts';
import { assignDocuments, type Documents, madeUpId } from './assign-orders.ts';
import { batchesOf, inBatches } from './batches.ts';
import { madeUpOrders, type Standing } from './made-up-orders.ts';
import { type LeftOrders, move } from './move-parts.ts';

/**
 * Put these reports and studies under their orders, with the reports that take theirs from these results, and with what
 * lists, or is listed by, any of them. Returns the reports that moved to another order. Orders that lost a part, got one,
 * or have one that changed join `affected`.
 */
export async function groupDocuments(
  client: Client,
  scope: FacilityScope,
  request: { asked: PartIds; touched: PartIds; affected: Set<string>; left: LeftOrders },
): Promise<string[]> {
  const { asked, touched, affected, left } = request;
  const { reports, studies, settled } = await loadDocuments(client, scope, asked);
  const parts = [...reports, ...studies, ...settled.reports, ...settled.studies];
  const named = parts.flatMap(({ basedOnId, orderId }) => [basedOnId, orderId]);
  const orderIds = new Set([
    ...named.filter((id) => id !== null),
    ...reports.flatMap(({ id, resultOrderIds }) => [madeUpId('DiagnosticReport', id), ...resultOrderIds]),
    ...studies.map(({ id }) => madeUpId('ImagingStudy', id)),
  ]);
  const orders = await inBatches([...orderIds], (ids) => knownOrders(client, scope, ids));
  const known = new Map(orders.map((order) => [order.id, order]));
  const patientOf = (id: string) => known.get(id)?.patientId;
  const assigned = assignDocuments({ reports, studies: [...studies, ...settled.studies] }, patientOf);
  const candidates: Standing[] = [
    ...[...reports, ...settled.reports].sort(byIssue).map((part) => ({
      part,
      orderId: assigned.has(part.id) ? assigned.get(part.id) : part.orderId,
      discipline: part.discipline,
    })),
    ...studies.map((part) => ({ part, orderId: assigned.get(part.id), discipline: 'imaging' as const })),
  ];
  const madeUp = madeUpOrders(candidates, (id) => known.get(id)?.madeUp ?? true);
  for (const some of batchesOf(madeUp)) await writeMadeUpOrders(client, scope, some);
  const placing = { assigned, patientOf, affected, left };
  await move(client, scope, { table: 'imaging_study', rows: studies, changed: touched.studies, ...placing });
  return move(client, scope, {
    table: 'investigation_report',
    rows: reports,
    changed: touched.reports,
    ...placing,
  });
}

/**
 * The asked documents, the studies that the asked reports list, and every report that lists one of those studies.
 * `settled`: what else these reports list, and the reports that list that. Nothing that decides about these changed, so
 * each keeps the order that it has.
 */
async function loadDocuments(
  client: Client,
  scope: FacilityScope,
  asked: PartIds,
): Promise<Documents & { settled: Documents }> {
  const none = { reports: [], studies: [], observations: [] };
  const reportsBy = (member: keyof PartIds, ids: Iterable<string>) =>
    inBatches([...ids], (some) => reportsToGroup(client, scope, { ...none, [member]: some }));
  const studiesBy = (ids: Iterable<string>) =>
    inBatches([...ids], (some) => studiesToGroup(client, scope, some));
  const own = await reportsBy('reports', asked.reports);
  const studyIds = asked.studies.union(studiesOf(own));
  const reports = eachOnce([
    ...own,
    ...(await reportsBy('studies', studyIds)),
    ...(await reportsBy('observations', asked.observations)),
  ]);
  const settledIds = studiesOf(reports).difference(studyIds);
  const reportIds = new Set(reports.map(({ id }) => id));
  return {
    // In the order that the database gives them.
    reports: reports.sort(byIssue),
    studies: await studiesBy(studyIds),
    settled: {
      reports: eachOnce(await reportsBy('studies', settledIds)).filter(({ id }) => !reportIds.has(id)),
      studies: (await studiesBy(settledIds)).map((study) => ({
        ...study,
        basedOnId: study.orderId ?? study.basedOnId,
      })),
    },
  };
}

function eachOnce(reports: readonly GroupedReport[]): GroupedReport[] {
  return [...new Map(reports.map((report) => [report.id, report])).values()];
}

function studiesOf(reports: readonly GroupedReport[]): Set<string> {
  return new Set(reports.flatMap(({ studyIds }) => studyIds));
}

/** By time of issue, then by id. */
export function byIssue(a: GroupedReport, b: GroupedReport): number {
  if (a.issuedAt === b.issuedAt) return a.id < b.id ? -1 : 1;
  return (a.issuedAt ?? Number.POSITIVE_INFINITY) - (b.issuedAt ?? Number.POSITIVE_INFINITY);
}

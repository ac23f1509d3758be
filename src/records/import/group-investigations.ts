/**
 * Puts reports, studies and results under orders (design 3.7; docs/fhir-mapping.md, "Grouping"). An order is
 * made up where the source has none. What is decided follows from what is stored, so that the order in which
 * files arrive does not matter.
 */
import { hash } from 'node:crypto';
import {
  type GroupedObservation,
  type GroupedReport,
  type GroupedStudy,
  knownOrders,
  observationsToGroup,
  reportsToGroup,
  studiesToGroup,
} from '../../investigations/grouping.store.ts';
import type { Discipline } from '../../investigations/investigation.ts';
import {
  type MadeUpOrder,
  moveParts,
  type PartTable,
  setDisciplines,
  touchOrders,
  writeMadeUpOrders,
} from '../../investigations/place-parts.store.ts';
import type { Client } from '../../platform/db/database.ts';
import type { FacilityScope } from '../../tenancy/scope.ts';
import { recordId } from './record-id.ts';

/** Ids of what was created or changed. */
export interface TouchedInvestigations {
  orders: ReadonlySet<string>;
  reports: ReadonlySet<string>;
  studies: ReadonlySet<string>;
  observations: ReadonlySet<string>;
}

export async function groupInvestigations(
  client: Client,
  scope: FacilityScope,
  touched: TouchedInvestigations,
): Promise<void> {
  const parts = await loadParts(client, scope, touched);
  const assigned = assignOrders(parts);
  const orderIds = [...new Set([...assigned.values()].flatMap(({ orderId }) => orderId ?? []))];
  const known = new Map((await knownOrders(client, scope, orderIds)).map((order) => [order.id, order]));
  const madeUp = madeUpOrders(parts, assigned, (id) => known.get(id)?.madeUp ?? true);
  if (madeUp.length > 0) await writeMadeUpOrders(client, scope, madeUp);
  const disciplines = new Map<string, Discipline>();
  for (const { orderId, discipline } of assigned.values()) {
    const order = orderId === null ? undefined : known.get(orderId);
    if (order === undefined || order.madeUp || discipline === 'other') continue;
    // What an order's own category says stands, unless it says neither laboratory nor imaging.
    if (order.categorised && order.discipline !== 'other') continue;
    if (order.discipline !== discipline) disciplines.set(order.id, discipline);
  }
  if (disciplines.size > 0) await setDisciplines(client, scope, disciplines);
  await move(client, scope, { parts, assigned, touched });
}

interface Parts {
  reports: GroupedReport[];
  studies: GroupedStudy[];
  observations: GroupedObservation[];
}

async function loadParts(
  client: Client,
  scope: FacilityScope,
  touched: TouchedInvestigations,
): Promise<Parts> {
  const reports = await reportsToGroup(client, scope, {
    reports: [...touched.reports],
    studies: [...touched.studies],
    observations: [...touched.observations],
  });
  const studyIds = new Set([...touched.studies, ...reports.flatMap((report) => report.studyIds)]);
  const studies = studyIds.size === 0 ? [] : await studiesToGroup(client, scope, [...studyIds]);
  const resultIds = new Set([...touched.observations, ...reports.flatMap((report) => report.resultIds)]);
  const observations = resultIds.size === 0 ? [] : await observationsToGroup(client, scope, [...resultIds]);
  return { reports, studies, observations };
}

/** Where a part belongs, and what discipline it makes its order. */
export interface Assignment {
  orderId: string | null;
  discipline: Discipline;
}

/** The order of each part, by part id. The first rule that gives one holds. */
export function assignOrders({ reports, studies, observations }: Parts): Map<string, Assignment> {
  const assigned = new Map<string, Assignment>();
  const basedOn = new Map(observations.map((observation) => [observation.id, observation.basedOnId]));
  for (const study of studies) {
    const listing = reports.filter(({ studyIds }) => studyIds.includes(study.id));
    const orderId =
      study.basedOnId ??
      firstOf(listing, (report) => report.basedOnId) ??
      study.orderId ??
      madeUpId('ImagingStudy', study.id);
    assigned.set(study.id, { orderId, discipline: 'imaging' });
  }
  for (const report of reports) {
    const orderId =
      report.basedOnId ??
      firstOf(report.studyIds, (id) => assigned.get(id)?.orderId) ??
      firstOf(report.resultIds, (id) => basedOn.get(id)) ??
      report.orderId ??
      (report.discipline === 'other' ? null : madeUpId('DiagnosticReport', report.id));
    assigned.set(report.id, { orderId, discipline: report.discipline });
  }
  assignObservations(assigned, reports, observations);
  return assigned;
}

function assignObservations(
  assigned: Map<string, Assignment>,
  reports: readonly GroupedReport[],
  observations: readonly GroupedObservation[],
): void {
  const reportOrders = new Map<string, string>();
  for (const { id, resultIds } of reports) {
    const orderId = assigned.get(id)?.orderId ?? null;
    if (orderId === null) continue;
    for (const resultId of resultIds) if (!reportOrders.has(resultId)) reportOrders.set(resultId, orderId);
  }
  const panels = new Map<string, GroupedObservation>();
  for (const panel of observations) for (const id of panel.memberIds) panels.set(id, panel);
  const orderOf = (observation: GroupedObservation, above: ReadonlySet<string>): string | null => {
    const panel = panels.get(observation.id);
    const inherited =
      panel === undefined || above.has(panel.id) ? null : orderOf(panel, new Set([...above, panel.id]));
    const own = reportOrders.get(observation.id) ?? observation.basedOnId ?? inherited ?? observation.orderId;
    return own ?? (observation.kind === 'laboratory' ? madeUpId('Observation', observation.id) : null);
  };
  for (const observation of observations)
    assigned.set(observation.id, {
      orderId: orderOf(observation, new Set([observation.id])),
      discipline:
        observation.kind === 'laboratory' || observation.kind === 'imaging' ? observation.kind : 'other',
    });
}

/** The id of the order that stands for a record whose source had none; always the same for the same record. */
function madeUpId(resourceType: string, id: string): string {
  return recordId(resourceType, `${id}/order`);
}

/** Made-up orders, new or changed: after the report, else the study, else the result that they stand for. */
function madeUpOrders(
  { reports, studies, observations }: Parts,
  assigned: ReadonlyMap<string, Assignment>,
  isMadeUp: (orderId: string) => boolean,
): MadeUpOrder[] {
  const orders = new Map<string, MadeUpOrder>();
  for (const part of [...reports, ...studies, ...observations]) {
    const { orderId, discipline } = assigned.get(part.id) ?? { orderId: null, discipline: 'other' };
    if (orderId === null || orders.has(orderId) || !isMadeUp(orderId)) continue;
    const content = {
      discipline: discipline === 'other' ? 'laboratory' : discipline,
      patientId: part.patientId,
      encounterId: part.encounterId,
      status: orderStatus(part.status),
      code: part.code,
    } as const;
    orders.set(orderId, { id: orderId, ...content, digest: hash('sha256', JSON.stringify(content), 'hex') });
  }
  return [...orders.values()];
}

/** What the status of a report, study or result says about its order (R4 request-status). */
function orderStatus(status: string): string {
  switch (status) {
    case 'registered':
    case 'partial':
    case 'preliminary':
      return 'active';
    case 'cancelled':
      return 'revoked';
    case 'entered-in-error':
    case 'unknown':
      return status;
    default:
      return 'completed';
  }
}

async function move(
  client: Client,
  scope: FacilityScope,
  request: { parts: Parts; assigned: ReadonlyMap<string, Assignment>; touched: TouchedInvestigations },
): Promise<void> {
  const { parts, assigned, touched } = request;
  const affected = new Set(touched.orders);
  const tables: readonly [PartTable, readonly Placed[], ReadonlySet<string>][] = [
    ['imaging_study', parts.studies, touched.studies],
    ['investigation_report', parts.reports, touched.reports],
    ['observation', parts.observations, touched.observations],
  ];
  for (const [table, rows, changed] of tables) {
    const { moves, orders } = movesOf(rows, assigned, changed);
    for (const id of orders) affected.add(id);
    if (moves.size > 0) await moveParts(client, scope, table, moves);
  }
  // A result that two reports list is shown by both of their orders.
  for (const report of parts.reports) {
    const orderId = assigned.get(report.id)?.orderId ?? null;
    if (orderId !== null && report.resultIds.some((id) => touched.observations.has(id)))
      affected.add(orderId);
  }
  if (affected.size > 0) await touchOrders(client, scope, [...affected].sort());
}

interface Placed {
  id: string;
  orderId: string | null;
}

/** Which parts go to another order, and the orders that lost, got or have a changed part. */
function movesOf(
  rows: readonly Placed[],
  assigned: ReadonlyMap<string, Assignment>,
  changed: ReadonlySet<string>,
): { moves: Map<string, string | null>; orders: string[] } {
  const moves = new Map<string, string | null>();
  const orders: (string | null)[] = [];
  for (const { id, orderId } of rows) {
    const next = assigned.get(id)?.orderId ?? null;
    if (next !== orderId) moves.set(id, next);
    if (next !== orderId || changed.has(id)) orders.push(orderId, next);
  }
  return { moves, orders: orders.filter((id) => id !== null) };
}

function firstOf<T>(items: readonly T[], of: (item: T) => string | null | undefined): string | null {
  for (const item of items) {
    const found = of(item);
    if (found !== null && found !== undefined) return found;
  }
  return null;
}

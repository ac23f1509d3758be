/**
 * Puts reports, studies and results under orders (design 3.7; docs/fhir-mapping.md, "Grouping"). An order is
 * made up where the source has none. What is decided follows from what is stored, so that the order in which
 * files arrive does not matter. Nothing is put under an order of another patient, whatever it refers to.
 */
import { hash } from 'node:crypto';
import {
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
import { type Assignment, assignOrders, ownersOfMadeUp, type Parts } from './assign-orders.ts';
import { categorised, orderDiscipline } from './discipline.ts';
import { orderEvidence } from './order-disciplines.store.ts';

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
  const orderIds = [...new Set(mentionedOrders(parts))];
  const known = new Map((await knownOrders(client, scope, orderIds)).map((order) => [order.id, order]));
  const assigned = assignOrders(parts, (id) => known.get(id)?.patientId);
  const madeUp = madeUpOrders(parts, assigned, (id) => known.get(id)?.madeUp ?? true);
  if (madeUp.length > 0) await writeMadeUpOrders(client, scope, madeUp);
  const affected = await move(client, scope, { parts, assigned, touched });
  await decideDisciplines(client, scope, affected);
  if (affected.length > 0) await touchOrders(client, scope, affected);
}

/** What an order's category says, else what its parts are, else what its code says. */
async function decideDisciplines(
  client: Client,
  scope: FacilityScope,
  orderIds: readonly string[],
): Promise<void> {
  if (orderIds.length === 0) return;
  const decided = new Map<string, Discipline>();
  for (const order of await orderEvidence(client, scope, orderIds)) {
    const { id, discipline, code, hasSpecimen, ofParts } = order;
    const category = order.category ?? undefined;
    const next =
      categorised(category) ?? ofParts ?? orderDiscipline(category, code ?? undefined, hasSpecimen);
    if (next !== discipline) decided.set(id, next);
  }
  if (decided.size > 0) await setDisciplines(client, scope, decided);
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

/** Ids of all orders that a part could come under. */
function mentionedOrders({ reports, studies, observations }: Parts): string[] {
  const named = [...reports, ...studies, ...observations].flatMap(({ basedOnId, orderId }) => [
    basedOnId,
    orderId,
  ]);
  const madeUp = [...ownersOfMadeUp({ reports, studies, observations }).keys()];
  return [...named.filter((id) => id !== null), ...madeUp];
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

/** Put parts under their orders; returns the orders that changed, or lost, got or have a changed part. */
async function move(
  client: Client,
  scope: FacilityScope,
  request: { parts: Parts; assigned: ReadonlyMap<string, Assignment>; touched: TouchedInvestigations },
): Promise<string[]> {
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
  return [...affected].sort();
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

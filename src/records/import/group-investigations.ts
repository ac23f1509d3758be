/**
 * Puts reports, studies and results under orders (design 3.7; docs/fhir-mapping.md, "Grouping"). An order is
 * made up where the source has none. What is decided follows from what is stored, so that the order in which
 * files arrive does not matter. Nothing is put under an order of another patient, whatever it refers to.
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
import { categorised, orderDiscipline } from './discipline.ts';
import { orderEvidence } from './order-disciplines.store.ts';
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

/** Ids of all orders that a part could come under. */
function mentionedOrders({ reports, studies, observations }: Parts): string[] {
  const named = [...reports, ...studies, ...observations].flatMap(({ basedOnId, orderId }) => [
    basedOnId,
    orderId,
  ]);
  const madeUp = [...ownersOfMadeUp({ reports, studies, observations }).keys()];
  return [...named.filter((id) => id !== null), ...madeUp];
}

/** The order that each part would have made up for it, with the part's patient. */
function ownersOfMadeUp({ reports, studies, observations }: Parts): Map<string, string> {
  return new Map([
    ...reports.map(({ id, patientId }) => [madeUpId('DiagnosticReport', id), patientId] as const),
    ...studies.map(({ id, patientId }) => [madeUpId('ImagingStudy', id), patientId] as const),
    ...observations.map(({ id, patientId }) => [madeUpId('Observation', id), patientId] as const),
  ]);
}

/** An order's id, if the order is the patient's; else null. */
type OfPatient = (orderId: string | null | undefined, patientId: string) => string | null;

/** Where a part belongs, and what discipline it makes its order. */
export interface Assignment {
  orderId: string | null;
  discipline: Discipline;
}

/**
 * The order of each part, by part id. The first rule that gives one of the part's own patient holds.
 * `patientOf`: the patient of an order that is stored.
 */
export function assignOrders(
  parts: Parts,
  patientOf: (orderId: string) => string | undefined = () => undefined,
): Map<string, Assignment> {
  const { reports, studies, observations } = parts;
  const assigned = new Map<string, Assignment>();
  const basedOn = new Map(observations.map((observation) => [observation.id, observation.basedOnId]));
  const owners = ownersOfMadeUp(parts);
  const own: OfPatient = (orderId, patientId) => {
    if (orderId === null || orderId === undefined) return null;
    return (owners.get(orderId) ?? patientOf(orderId) ?? patientId) === patientId ? orderId : null;
  };
  for (const study of studies) {
    const { patientId } = study;
    const listing = reports.filter(({ studyIds }) => studyIds.includes(study.id));
    const orderId =
      own(study.basedOnId, patientId) ??
      firstOf(listing, (report) => own(report.basedOnId, patientId)) ??
      own(study.orderId, patientId) ??
      madeUpId('ImagingStudy', study.id);
    assigned.set(study.id, { orderId, discipline: 'imaging' });
  }
  for (const report of reports) {
    const { patientId } = report;
    const orderId =
      own(report.basedOnId, patientId) ??
      firstOf(report.studyIds, (id) => own(assigned.get(id)?.orderId, patientId)) ??
      firstOf(report.resultIds, (id) => own(basedOn.get(id), patientId)) ??
      own(report.orderId, patientId) ??
      (report.discipline === 'other' ? null : madeUpId('DiagnosticReport', report.id));
    assigned.set(report.id, { orderId, discipline: report.discipline });
  }
  assignObservations(assigned, parts, own);
  return assigned;
}

function assignObservations(
  assigned: Map<string, Assignment>,
  { reports, observations }: Parts,
  own: OfPatient,
): void {
  const patients = new Map(observations.map(({ id, patientId }) => [id, patientId]));
  const reportOrders = ordersOfReports(assigned, reports, patients);
  const panels = new Map<string, GroupedObservation>();
  for (const panel of observations)
    for (const id of panel.memberIds) if (patients.get(id) === panel.patientId) panels.set(id, panel);
  const orderOf = (observation: GroupedObservation, above: ReadonlySet<string>): string | null => {
    const { id, patientId } = observation;
    const panel = panels.get(id);
    const inherited =
      panel === undefined || above.has(panel.id) ? null : orderOf(panel, new Set([...above, panel.id]));
    const found =
      reportOrders.get(id) ??
      own(observation.basedOnId, patientId) ??
      inherited ??
      own(observation.orderId, patientId);
    return found ?? (observation.kind === 'laboratory' ? madeUpId('Observation', id) : null);
  };
  for (const observation of observations)
    assigned.set(observation.id, {
      orderId: orderOf(observation, new Set([observation.id])),
      discipline:
        observation.kind === 'laboratory' || observation.kind === 'imaging' ? observation.kind : 'other',
    });
}

/** The order of the first report of the same patient that lists a result, by result. */
function ordersOfReports(
  assigned: ReadonlyMap<string, Assignment>,
  reports: readonly GroupedReport[],
  patients: ReadonlyMap<string, string>,
): Map<string, string> {
  const orders = new Map<string, string>();
  for (const { id, resultIds, patientId } of reports) {
    const orderId = assigned.get(id)?.orderId ?? null;
    if (orderId === null) continue;
    for (const resultId of resultIds)
      if (!orders.has(resultId) && patients.get(resultId) === patientId) orders.set(resultId, orderId);
  }
  return orders;
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

function firstOf<T>(items: readonly T[], of: (item: T) => string | null | undefined): string | null {
  for (const item of items) {
    const found = of(item);
    if (found !== null && found !== undefined) return found;
  }
  return null;
}

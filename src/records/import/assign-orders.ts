/**
 * Which order each report, study and result belongs to (design 3.7; docs/fhir-mapping.md, "Grouping"). Pure. Nothing
 * comes under an order of another patient, whatever it refers to.
 */
import type { GroupedObservation, GroupedReport, GroupedStudy } from '../../investigations/grouping.store.ts';
import type { Discipline } from '../../investigations/investigation.ts';
import { recordId } from './record-id.ts';

export interface Parts {
  reports: GroupedReport[];
  studies: GroupedStudy[];
  observations: GroupedObservation[];
}

/** Panels in panels that a result takes its order from. Without a bound, a chain of them would cost its square. */
export const PANEL_LEVELS = 10;

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
  const listings = new Map<string, GroupedReport[]>(studies.map(({ id }) => [id, []]));
  for (const report of reports) for (const id of new Set(report.studyIds)) listings.get(id)?.push(report);
  for (const study of studies) {
    const { patientId } = study;
    const listing = listings.get(study.id) ?? [];
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
  for (const observation of observations) {
    const { kind } = observation;
    assigned.set(observation.id, {
      orderId: orderOf(observation, { reportOrders, panels, own }),
      discipline: kind === 'laboratory' || kind === 'imaging' ? kind : 'other',
    });
  }
}

interface Around {
  reportOrders: ReadonlyMap<string, string>;
  /** The panel that a result is a member of, by result. */
  panels: ReadonlyMap<string, GroupedObservation>;
  own: OfPatient;
}

/** The order that a result, or the nearest panel above it, comes under; else that of the topmost of them. */
function orderOf(observation: GroupedObservation, { reportOrders, panels, own }: Around): string | null {
  const passed = new Set<GroupedObservation>();
  let next: GroupedObservation | undefined = observation;
  while (next !== undefined && passed.size <= PANEL_LEVELS && !passed.has(next)) {
    const found: string | null = reportOrders.get(next.id) ?? own(next.basedOnId, next.patientId);
    if (found !== null) return found;
    passed.add(next);
    next = panels.get(next.id);
  }
  return firstOf(
    topFirst([...passed], next),
    ({ id, kind, orderId, patientId }) =>
      own(orderId, patientId) ?? (kind === 'laboratory' ? madeUpId('Observation', id) : null),
  );
}

/**
 * What can give the order of a result, whose panels were passed from below until `next`: the topmost of them before
 * the others. Of panels that are members of each other it is the one with the lowest id, whichever the way began
 * with. Under very many levels it is the result itself.
 */
function topFirst(
  passed: readonly GroupedObservation[],
  next: GroupedObservation | undefined,
): readonly GroupedObservation[] {
  if (next === undefined) return passed.toReversed();
  const start = passed.indexOf(next);
  if (start < 0) return passed.slice(0, 1);
  const circle = passed.slice(start).sort((a, b) => (a.id < b.id ? -1 : 1));
  return [...circle, ...passed.slice(0, start).reverse()];
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

/** The order that each part would have made up for it, with the part's patient. */
export function ownersOfMadeUp({ reports, studies, observations }: Parts): Map<string, string> {
  return new Map([
    ...reports.map(({ id, patientId }) => [madeUpId('DiagnosticReport', id), patientId] as const),
    ...studies.map(({ id, patientId }) => [madeUpId('ImagingStudy', id), patientId] as const),
    ...observations.map(({ id, patientId }) => [madeUpId('Observation', id), patientId] as const),
  ]);
}

/** The id of the order that stands for a record whose source had none; always the same for the same record. */
function madeUpId(resourceType: string, id: string): string {
  return recordId(resourceType, `${id}/order`);
}

function firstOf<T>(items: readonly T[], of: (item: T) => string | null | undefined): string | null {
  for (const item of items) {
    const found = of(item);
    if (found !== null && found !== undefined) return found;
  }
  return null;
}

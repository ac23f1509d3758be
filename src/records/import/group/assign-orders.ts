/**
 * Which order each report, study and result belongs to (docs/fhir-mapping.md, "Grouping"). Pure. Nothing
 * comes under an order of another patient, whatever it refers to.
 * Contract: IN-17, IN-52.
 */
import type { GroupedReport, GroupedStudy } from '../../../investigations/grouping.store.ts';
import type { GroupedObservation, StandingResult } from '../../../investigations/result-grouping.store.ts';
import { isResult } from '../map/shown.ts';
import { recordId } from '../resolve/record-id.ts';

/** Panels in panels that a result takes its order from. Without a bound, a chain of them would cost its square. */
export const PANEL_LEVELS = 10;

/** The patient of an order that is stored. */
export type PatientOfOrder = (orderId: string) => string | undefined;

/** An order's id, if the order is the patient's; else null. */
type OfPatient = (orderId: string | null | undefined, patientId: string) => string | null;

export interface Documents {
  /** The oldest first. */
  reports: readonly GroupedReport[];
  studies: readonly GroupedStudy[];
}

/** The order of each report and study, by its id. The first rule that finds an order of the same patient decides. */
export function assignDocuments(
  { reports, studies }: Documents,
  patientOf: PatientOfOrder = () => undefined,
): Map<string, string | null> {
  const assigned = new Map<string, string | null>();
  const own = ofPatient(patientOf, [
    ...reports.map(({ id, patientId }) => [madeUpId('DiagnosticReport', id), patientId] as const),
    ...studies.map(({ id, patientId }) => [madeUpId('ImagingStudy', id), patientId] as const),
  ]);
  const listings = new Map<string, GroupedReport[]>(studies.map(({ id }) => [id, []]));
  for (const report of reports) for (const id of new Set(report.studyIds)) listings.get(id)?.push(report);
  for (const { id, basedOnId, patientId } of studies)
    assigned.set(
      id,
      own(basedOnId, patientId) ??
        firstOf(listings.get(id) ?? [], (report) => own(report.basedOnId, patientId)) ??
        madeUpId('ImagingStudy', id),
    );
  for (const { id, basedOnId, studyIds, resultOrderIds, discipline, patientId } of reports)
    assigned.set(
      id,
      own(basedOnId, patientId) ??
        firstOf(studyIds, (studyId) => own(assigned.get(studyId), patientId)) ??
        firstOf(resultOrderIds, (orderId) => own(orderId, patientId)) ??
        (discipline === 'other' ? null : madeUpId('DiagnosticReport', id)),
    );
  return assigned;
}

export interface Results {
  observations: readonly GroupedObservation[];
  /** The panel that a result is a member of, by result; the panels, and theirs, are among the observations. */
  panels: ReadonlyMap<string, string>;
}

/** The order of each result, by its id. Reports have theirs already. */
export function assignResults(
  { observations, panels }: Results,
  patientOf: PatientOfOrder = () => undefined,
): Map<string, string | null> {
  const own = ofPatient(
    patientOf,
    observations.map((observation) => [gatheredId(observation), observation.patientId] as const),
  );
  const byId = new Map(observations.map((observation) => [observation.id, observation]));
  const panelOf = ({ id, patientId }: GroupedObservation): GroupedObservation | undefined => {
    const panel = byId.get(panels.get(id) ?? '');
    return panel?.patientId === patientId ? panel : undefined;
  };
  return new Map(observations.map((observation) => [observation.id, orderOf(observation, panelOf, own)]));
}

/** The order of the result, else of the nearest panel above it that has one; else one made up for the topmost panel. */
function orderOf(
  observation: GroupedObservation,
  panelOf: (member: GroupedObservation) => GroupedObservation | undefined,
  own: OfPatient,
): string | null {
  const passed = new Set<GroupedObservation>();
  let next: GroupedObservation | undefined = observation;
  while (next !== undefined && passed.size <= PANEL_LEVELS && !passed.has(next)) {
    const { reportOrderIds, basedOnId, patientId }: GroupedObservation = next;
    const found = firstOf([...reportOrderIds, basedOnId], (orderId) => own(orderId, patientId));
    if (found !== null) return found;
    passed.add(next);
    next = panelOf(next);
  }
  return firstOf(topFirst([...passed], next), (one) => (isResult(one) ? gatheredId(one) : null));
}

/**
 * For which of these an order may be made up, the topmost panel first. `passed` holds the result and the panels above
 * it; the walk stopped before `next`. Of panels that are members of each other, the one with the lowest id comes first,
 * wherever the walk began. Under more levels than PANEL_LEVELS there is only the result itself.
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

function ofPatient(
  patientOf: PatientOfOrder,
  madeUp: readonly (readonly [orderId: string, patientId: string])[],
): OfPatient {
  const owners = new Map(madeUp);
  return (orderId, patientId) => {
    if (orderId === null || orderId === undefined) return null;
    return (owners.get(orderId) ?? patientOf(orderId) ?? patientId) === patientId ? orderId : null;
  };
}

/** The id of the order that stands for a record whose source had none; always the same for the same record. */
export function madeUpId(
  resourceType: 'DiagnosticReport' | 'ImagingStudy' | 'Observation',
  id: string,
): string {
  return recordId(resourceType, `${id}/order`);
}

/**
 * The id of the order that is made for a result: the same for results of one facility, patient, specimen (else
 * encounter, else neither) and time (docs/adr/0118). A result of which no day is known has one of its own.
 */
export function gatheredId(result: StandingResult): string {
  const { id, facilityId, patientId, specimenId, encounterId, effectiveAt } = result;
  if (effectiveAt === null) return madeUpId('Observation', id);
  const [type, shared] = specimenId === null ? ['Encounter', encounterId ?? ''] : ['Specimen', specimenId];
  return recordId('ServiceRequest', `${facilityId}/${patientId}/${type}/${shared}/${effectiveAt}`);
}

function firstOf<T>(items: readonly T[], of: (item: T) => string | null | undefined): string | null {
  for (const item of items) {
    const found = of(item);
    if (found !== null && found !== undefined) return found;
  }
  return null;
}

/**
 * Decides what the records of new patients come under before they are stored (docs/adr/0124). Nobody else can know a
 * patient whom this transaction has created, and nothing else of such a patient is stored. So what a unit brings decides
 * alone, by the same rules as for stored records (`group-investigations.ts`), and each row is written once.
 * Contract: IN-9, IN-17, IN-19, IN-20.
 */
import type { RecordRow } from '../../../clinical/description/describe.ts';
import type { Values } from '../../../clinical/description/element.ts';
import type { RecordPointer } from '../../../clinical/description/pointer.ts';
import { type NewVitalSet, writeVitalSets } from '../../../encounters/vitals/grouping.store.ts';
import { saysDay } from '../../../fhir/date-time.ts';
import { foreignLinksAmong } from '../../../investigations/foreign-links.store.ts';
import {
  type GroupedPart,
  type GroupedReport,
  knownOrders,
  REPORTS_OF_STUDY,
  RESULTS_ASKED,
} from '../../../investigations/grouping.store.ts';
import { type MadeUpOrder, writeMadeUpOrders } from '../../../investigations/place-parts.store.ts';
import type { GroupedObservation } from '../../../investigations/result-grouping.store.ts';
import { epochText, timestampText } from '../../../platform/db/timestamp.ts';
import type {
  PatientRecords,
  RecordPlacement,
  ResourceImporter,
  WriteContext,
} from '../map/resource-importer.ts';
import type { Unit } from '../run/unit.ts';
import { assignDocuments, assignResults } from './assign-orders.ts';
import { batchesOf, inBatches } from './batches.ts';
import { byIssue } from './group-documents.ts';
import { setOf } from './group-vital-signs.ts';
import { gatheredOrders, madeUpOrders } from './made-up-orders.ts';

/** Rows of one type that are mapped and not written. */
export interface HeldRows {
  importer: ResourceImporter;
  rows: readonly RecordRow[];
}

/** Entries of a unit whose records are held until all of them are mapped, at most, and bytes of their JSON. */
const HELD = 5_000;
const HELD_BYTES = 8 * 1_048_576;

/**
 * Whether the unit is small, has new patients, and has no record of patients that is stored already: what refers to such a
 * record by an identifier must find it as the unit has it.
 */
export async function mayBeHeld(
  { client, scope }: WriteContext,
  { entries: all }: Unit,
  newPatients: ReadonlySet<string>,
): Promise<boolean> {
  if (newPatients.size === 0 || all.length > HELD) return false;
  if (all.reduce((bytes, { start, end }) => bytes + end - start, 0) > HELD_BYTES) return false;
  for (const [{ kind, lookup }, entries] of Map.groupBy(all, ({ importer }) => importer)) {
    if (kind === undefined) continue;
    const ids = entries.map(({ target }) => target.id);
    if (new Set(ids).size < ids.length) return false;
    const stored = await inBatches(ids, (some) => lookup.existing(client, scope, some));
    if (stored.length > 0) return false;
  }
  return true;
}

/**
 * Write the made-up orders and the vital sets of records whose patients are new, and tell what each record is under.
 * None of the records is stored. Undefined where another patient, or a made-up order that is stored, has a part in it: then
 * records are grouped once they are written. Refuses what refers to a record of another patient.
 */
export async function placeNewRecords(
  context: WriteContext,
  held: readonly HeldRows[],
  newPatients: ReadonlySet<string>,
): Promise<RecordPlacement | undefined> {
  const { client, scope } = context;
  const of = (kind: PatientRecords) =>
    held.flatMap(({ importer, rows }) => (importer.kind === kind ? rows : []));
  const records: AllRecords = {
    orders: of('orders'),
    reports: of('reports'),
    studies: of('studies'),
    observations: of('observations'),
    encounters: of('encounters'),
    specimens: of('specimens'),
  };
  const isNew = ({ values }: RecordRow) => newPatients.has(String(values.patient_id));
  if (!Object.values(records).flat().every(isNew)) return undefined;
  if (reportsOfOneStudy(records.reports) > REPORTS_OF_STUDY) return undefined;
  const foreign = foreignLinksAmong(records);
  for (const { type, element, ids } of foreign) context.refuseForeign(type, ids, element);
  if (foreign.length > 0) return undefined;
  const { columns, madeUp, vitalSets } = placeRecords(records, scope.facilityId);
  const madeUpIds = madeUp.map(({ id }) => id);
  if ((await inBatches(madeUpIds, (ids) => knownOrders(client, scope, ids))).length > 0) return undefined;
  for (const some of batchesOf(madeUp)) await writeMadeUpOrders(client, scope, some);
  if (vitalSets.length > 0) await writeVitalSets(client, scope, vitalSets);
  return { columns, orders: new Set(records.orders.map(({ id }) => id)) };
}

/** Reports that list the same study, where they are most. */
function reportsOfOneStudy(reports: readonly RecordRow[]): number {
  const counts = new Map<string, number>();
  for (const { values } of reports)
    for (const id of new Set((values.imaging_study_ids ?? []) as string[]))
      counts.set(id, (counts.get(id) ?? 0) + 1);
  return Math.max(0, ...counts.values());
}

/** Encounters are no part of an order. They are written before, because made-up orders and vital sets name them. */
export function isPlaced({ kind }: Pick<ResourceImporter, 'kind'>): boolean {
  return kind !== undefined && kind !== 'encounters';
}

/** Records of a unit, as they will be stored. */
type AllRecords = Readonly<Record<PatientRecords, readonly RecordRow[]>>;
type NewRecords = Pick<AllRecords, 'orders' | 'reports' | 'studies' | 'observations'>;

interface Placed {
  /** Columns that only the insert of a record fills, by its id. */
  columns: ReadonlyMap<string, Values>;
  madeUp: MadeUpOrder[];
  vitalSets: NewVitalSet[];
}

/** Pure. */
function placeRecords(records: NewRecords, facilityId: string): Placed {
  const patients = new Map(records.orders.map(({ id, values }) => [id, values.patient_id as string]));
  const isMadeUp = (id: string) => !patients.has(id);
  const results = new Map(records.observations.map((row) => [row.id, row]));
  const reports = records.reports.map((row) => groupedReport(row, results)).sort(byIssue);
  const studies = records.studies.map(groupedStudy).sort((a, b) => (a.id < b.id ? -1 : 1));
  const documents = assignDocuments({ reports, studies }, (id) => patients.get(id));
  const standing = madeUpOrders(
    [
      ...reports.map((part) => ({ part, orderId: documents.get(part.id), discipline: part.discipline })),
      ...studies.map((part) => ({ part, orderId: documents.get(part.id), discipline: 'imaging' as const })),
    ],
    isMadeUp,
  );
  for (const { id, patientId } of standing) patients.set(id, patientId);
  const listing = reportsByResult(records.reports, reports, documents);
  const observations = records.observations
    .map((row) => groupedObservation(row, facilityId, listing))
    .sort((a, b) => (a.id < b.id ? -1 : 1));
  const panels = panelsOf(observations);
  const assigned = assignResults({ observations, panels }, (id) => patients.get(id));
  const gathered = gatheredOrders(Map.groupBy(observations, ({ id }) => assigned.get(id) ?? ''));
  const columns = new Map<string, Values>();
  for (const [id, order_id] of documents) columns.set(id, { order_id });
  const vitalSets = new Map<string, NewVitalSet>();
  for (const { id, values } of records.observations) {
    const set = setOf(vitalSign(values));
    if (set !== undefined) vitalSets.set(set.id, set);
    columns.set(id, { order_id: assigned.get(id), vital_set_id: set?.id });
  }
  const oldest = oldestParts(records, columns);
  return {
    columns,
    madeUp: [...standing, ...gathered.filter(({ id }) => !patients.has(id))].map((order) => ({
      ...order,
      sortAt: oldest.get(order.id),
    })),
    vitalSets: [...vitalSets.values()],
  };
}

function groupedPart({ id, values }: RecordRow): Omit<GroupedPart, 'code'> {
  return {
    id,
    orderId: null,
    basedOnId: (values.based_on_id as string | undefined) ?? null,
    patientId: values.patient_id as string,
    encounterId: (values.encounter_id as string | undefined) ?? null,
    status: values.status as string,
  };
}

function groupedStudy(row: RecordRow): GroupedPart {
  const [code] = (row.values.procedure_code ?? []) as GroupedPart['code'][];
  return { ...groupedPart(row), code: code ?? null };
}

function groupedReport(row: RecordRow, results: ReadonlyMap<string, RecordRow>): GroupedReport {
  const { values } = row;
  const part = groupedPart(row);
  const asked = part.basedOnId === null ? resultsOf(row).slice(0, RESULTS_ASKED) : [];
  return {
    ...part,
    code: values.code as GroupedPart['code'],
    discipline: values.discipline as GroupedReport['discipline'],
    studyIds: (values.imaging_study_ids ?? []) as string[],
    issuedAt: values.issued_at === undefined ? null : Date.parse(values.issued_at as string),
    resultOrderIds: asked.flatMap((id) => {
      const basedOnId = results.get(id ?? '')?.values.based_on_id as string | undefined;
      return basedOnId === undefined ? [] : [basedOnId];
    }),
  };
}

/** Ids of the results that a report lists; undefined for one that is not here. */
function resultsOf({ children }: RecordRow): (string | undefined)[] {
  return (children.investigation_report_result ?? []).map(
    ({ observation_id }) => observation_id as string | undefined,
  );
}

/** The reports that have an order and list a result, the oldest first. */
function reportsByResult(
  rows: readonly RecordRow[],
  reports: readonly GroupedReport[],
  documents: ReadonlyMap<string, string | null>,
): Map<string | undefined, { orderId: string; patientId: string }[]> {
  const results = new Map(rows.map((row) => [row.id, new Set(resultsOf(row))]));
  const listed = reports.flatMap(({ id, patientId }) => {
    const orderId = documents.get(id) ?? null;
    if (orderId === null) return [];
    return Array.from(results.get(id) ?? [], (result) => ({ result, orderId, patientId }));
  });
  return Map.groupBy(listed, ({ result }) => result);
}

function groupedObservation(
  row: RecordRow,
  facilityId: string,
  listing: ReadonlyMap<string | undefined, readonly { orderId: string; patientId: string }[]>,
): GroupedObservation {
  const { values } = row;
  const part = groupedPart(row);
  const at = values.effective_at as string | undefined;
  return {
    ...part,
    code: values.code as GroupedPart['code'],
    facilityId,
    memberIds: (values.has_member_ids ?? []) as string[],
    specimenId: (values.specimen as RecordPointer | undefined)?.id ?? null,
    effectiveAt: at === undefined || !saysDay(effectiveText(values) ?? '') ? null : epochText(at),
    kind: values.kind as string,
    vitalSign: values.vital_sign === true,
    category: (values.category ?? null) as GroupedObservation['category'],
    reportOrderIds: (listing.get(row.id) ?? []).flatMap(({ orderId, patientId }) =>
      patientId === part.patientId ? [orderId] : [],
    ),
  };
}

function effectiveText({ effective_start: start, effective_end: end }: Values): string | null {
  return ((start ?? end) as string | undefined) ?? null;
}

function vitalSign(values: Values): Parameters<typeof setOf>[0] {
  const at = values.effective_at as string | undefined;
  return {
    vitalSign: values.vital_sign === true,
    patientId: values.patient_id as string,
    encounterId: (values.encounter_id as string | undefined) ?? null,
    effectiveStart: effectiveText(values),
    effectiveAt: at === undefined ? null : timestampText(at),
  };
}

/** The panel that each result is a member of: of several of its patient, the one with the lowest id. */
function panelsOf(observations: readonly GroupedObservation[]): Map<string, string> {
  const patients = new Map(observations.map(({ id, patientId }) => [id, patientId]));
  const panels = new Map<string, string>();
  for (const { id, patientId, memberIds } of observations)
    for (const member of memberIds)
      if (member !== id && !panels.has(member) && patients.get(member) === patientId) panels.set(member, id);
  return panels;
}

/** When the oldest part of each order was made, as far as it is known. */
function oldestParts(
  { reports, studies, observations }: NewRecords,
  columns: ReadonlyMap<string, Values>,
): Map<string, string> {
  const oldest = new Map<string, string>();
  const note = (id: string, at: unknown): void => {
    const orderId = columns.get(id)?.order_id as string | null | undefined;
    if (orderId === null || orderId === undefined || typeof at !== 'string') return;
    const before = oldest.get(orderId);
    if (before === undefined || at < before) oldest.set(orderId, at);
  };
  for (const { id, values } of studies) note(id, values.started_at);
  for (const { id, values } of [...reports, ...observations])
    note(id, values.effective_at ?? values.issued_at);
  return oldest;
}

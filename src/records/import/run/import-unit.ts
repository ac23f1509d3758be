/**
 * Writes one unit (a Bundle, or a run of single resources) inside a transaction that is open already.
 * Contract: IN-12, IN-35.
 */

import type { RecordRow } from '../../../clinical/description/describe.ts';
import { parseFhirJson } from '../../../fhir/json.ts';
import { replacedAmong } from '../../../patients/replacement.store.ts';
import type { Client } from '../../../platform/db/database.ts';
import { createPauses } from '../../../platform/pauses.ts';
import { groupRecords, nothingTouched } from '../group/group-records.ts';
import { isPlaced, mayBeHeld, placeNewRecords } from '../group/place-new-records.ts';
import { ElementTally } from '../map/element-tally.ts';
import {
  type EntryToMap,
  type IncompleteRecord,
  type MapOutcome,
  type MappedRecords,
  mapResources,
} from '../map/map-resources.ts';
import type { ResourceImporter, WriteContext, WriteResult } from '../map/resource-importer.ts';
import { reasonNotShown } from '../map/shown.ts';
import { mayModify } from '../map/understood.ts';
import { type PlacedCoding, unmappedCodesOf } from '../map/unmapped-codes.ts';
import type { NotShown } from '../not-shown.ts';
import { applyConditions } from '../resolve/apply-conditions.ts';
import { placeIds } from '../resolve/place-ids.ts';
import type { MissingRecord } from '../resolve/read-reference.ts';
import { ReferenceResolver } from '../resolve/resolve-references.ts';
import { decodeUtf8 } from '../source/read-entries.ts';
import type { Spool } from '../source/spool.ts';
import { noteWaits, stillWaiting } from '../wait/note-waits.ts';
import { WrittenByAnother } from '../write/write-records.ts';
import { chunks } from './entry-chunks.ts';
import { OrderOfEntry } from './order-of-entry.ts';
import {
  BUNDLE_REASONS,
  count,
  type EntryReason,
  type Unit,
  type UnitEntry,
  type UnitRequest,
} from './unit.ts';

export interface UnitOutcome extends MapOutcome {
  /** Resources taken, by type; what was there already with the same content is among them. */
  resources: Map<string, number>;
  unchanged: Map<string, number>;
  /** Entries that are there in a newer version of their source. */
  older: UnitEntry[];
  /** What was taken and is to be looked at. */
  notices: EntryReason[];
  /** Optional referenced records that were left out for good, with an entry that misses each. */
  missing: Map<string, { referenced: MissingRecord; entry: UnitEntry }>;
  /**
   * Patients who were created; who were changed; who were registered here, with those who link to them; and whom anything
   * that came is or was about.
   */
  patientsCreated: Set<string>;
  patientsUpdated: Set<string>;
  patientsRegistered: Set<string>;
  patientsTouched: Set<string>;
  /** What no fetch shows, unless a report or an order brings it along. */
  notShown: NotShown[];
  /** Local codes without a standard one, of what was created or changed. */
  unmapped: PlacedCoding[];
}

/**
 * Map and write everything. Once something is rejected or waiting nothing more is written: the caller must
 * roll back.
 */
export async function importUnit(client: Client, request: UnitRequest): Promise<UnitOutcome> {
  const { unit, scope } = request;
  const outcome = emptyOutcome();
  const context: WriteContext = {
    client,
    scope,
    reach: request.reach,
    dryRun: request.dryRun,
    touched: nothingTouched(),
    placement: undefined,
    patientsTouched: (ids) => addAll(outcome.patientsTouched, ids),
    patientsRegistered: (ids) => addAll(outcome.patientsRegistered, ids),
    refuse: (type, ids, reason) => {
      for (const entry of entriesOf(unit, type, ids)) outcome.rejected.push({ entry, reason });
    },
    refuseForeign: (type, ids, element) => {
      if (request.moreToCome) outcome.waiting.push(...entriesOf(unit, type, ids).map(({ number }) => number));
      else
        context.refuse(
          type,
          ids,
          `${type}.${element} refers to a record of another patient. If that record moved to this patient, import it first, or in the same import. If each refers to the other, send both in one Bundle`,
        );
    },
    notice: (type, ids, reason) => {
      for (const entry of entriesOf(unit, type, ids)) outcome.notices.push({ entry, reason });
    },
  };
  const faults = [await placeIds(client, request), await applyConditions(client, request)];
  outcome.rejected = outcome.rejected.concat(...faults);
  if (outcome.rejected.length > 0) return outcome;
  const order = new OrderOfEntry(context, request);
  const resolver = new ReferenceResolver(unit, scope, request.dryRun);
  const work: UnitWork = { request, context, outcome, order, resolver };
  const held = await writeUnlessHeld(work);
  if (isNotTaken(outcome)) return outcome;
  await writeHeld(work, held);
  if (isNotTaken(outcome)) return outcome;
  await groupRecords(context);
  await order.settle();
  for (const [type, times] of unit.repeated) {
    count(outcome.resources, type, times);
    count(outcome.unchanged, type, times);
  }
  return outcome;
}

/** A unit at work. */
interface UnitWork {
  request: UnitRequest;
  context: WriteContext;
  outcome: UnitOutcome;
  order: OrderOfEntry;
  resolver: ReferenceResolver;
}

/** Entries of one type, mapped. */
interface MappedChunk extends MappedRecords {
  importer: ResourceImporter;
  chunk: readonly UnitEntry[];
}

/** What is held until it is known what each record is under. */
interface Held {
  chunks: MappedChunk[];
  /** False where an Encounter of the unit is stored otherwise than the unit has it, so that what names it is looked at there. */
  isPlaceable: boolean;
}

/** Maps everything, and writes it but for what is held. Stops early. */
async function writeUnlessHeld(work: UnitWork): Promise<Held> {
  const { request, context, outcome } = work;
  const { unit } = request;
  const held: Held = { chunks: [], isPlaceable: true };
  const isFirst = request.dryRun === undefined && !request.again;
  let mayHold: boolean | undefined;
  const byImporter = [...Map.groupBy(unit.entries, ({ importer }) => importer)];
  for (const [importer, entries] of byImporter.sort(([a], [b]) => a.order - b.order)) {
    // Patients come before all that is about them.
    if (importer.kind !== undefined)
      mayHold ??= isFirst && (await mayBeHeld(context, unit, outcome.patientsCreated));
    const holds = mayHold === true && importer.kind !== undefined;
    await takeEntries(work, [importer, entries], holds ? held : undefined);
    if (isStopped(outcome, unit)) break;
  }
  return held;
}

/** Maps the entries of one type, and writes them; without `held`, all of them. */
async function takeEntries(
  work: UnitWork,
  [importer, entries]: readonly [ResourceImporter, readonly UnitEntry[]],
  held: Held | undefined,
): Promise<void> {
  const { request, outcome } = work;
  for (const chunk of chunks(inWritingOrder(importer, entries, request.spool))) {
    const mapped = { importer, chunk, ...(await mapChunk(work, chunk)) };
    if (isStopped(outcome, request.unit)) return;
    held?.chunks.push(mapped);
    if (outcome.rejected.length > 0 || (held !== undefined && isPlaced(importer))) continue;
    const { created } = await writeChunk(work, mapped);
    if (held !== undefined && created.length < mapped.rows.length) held.isPlaceable = false;
  }
}

function isStopped({ waiting, rejected }: UnitOutcome, { isBundle }: Unit): boolean {
  return waiting.length > 0 || (isBundle && rejected.length >= BUNDLE_REASONS);
}

function isNotTaken({ waiting, rejected }: UnitOutcome): boolean {
  return waiting.length > 0 || rejected.length > 0;
}

async function writeHeld(work: UnitWork, { chunks: held, isPlaceable }: Held): Promise<void> {
  if (held.length === 0) return;
  const { context, outcome } = work;
  if (isPlaceable) context.placement = await placeNewRecords(context, held, outcome.patientsCreated);
  if (isNotTaken(outcome)) return;
  for (const one of held) if (isPlaced(one.importer)) await writeChunk(work, one);
}

/** The entries of a type that are stored under these ids. */
function entriesOf(unit: Unit, type: string, ids: Iterable<string>): UnitEntry[] {
  const wanted = new Set(ids);
  if (wanted.size === 0) return [];
  return unit.entries.filter(({ target }) => target.type === type && wanted.has(target.id));
}

/**
 * Entries of a shared type go by id, so that imports do not deadlock. Those of a large file stay as they stand: reading
 * them by id would be slow, and a unit that meets a deadlock is repeated.
 */
function inWritingOrder(
  { shared }: ResourceImporter,
  entries: readonly UnitEntry[],
  spool: Spool,
): readonly UnitEntry[] {
  if (shared !== true || !spool.inMemory) return entries;
  return entries.toSorted((a, b) => (a.target.id < b.target.id ? -1 : 1));
}

async function writeChunk(
  { request, context, outcome, order }: UnitWork,
  { importer, chunk, rows: read, incomplete }: MappedChunk,
): Promise<WriteResult> {
  const { again, dryRun, runId } = request;
  const missing = new Map(incomplete.map(({ entry, resource }) => [entry.target.id, resource]));
  const mapped = (await importer.complete?.(read, missing, context)) ?? read;
  const waiting = again ? await stillWaiting(context, importer, { rows: mapped, runId }) : mapped;
  // Whatever becomes of them: the report says which were there already.
  context.patientsTouched(waiting.flatMap(subjectOf));
  const passed = await order.passed(importer, waiting, { chunk, incomplete });
  const isPassed = new Set(passed.map(({ id }) => id));
  const rows = waiting.filter(({ id }) => !isPassed.has(id));
  if (passed.length > 0 && context.placement !== undefined) throw new WrittenByAnother();
  if (passed.length > 0) await importer.passed?.(passed, context);
  const written = await importer.write(rows, context);
  order.written(importer, written);
  await noteWaits(context, importer, { rows, result: written, incomplete, runId });
  const present = chunk.filter(({ writes }) => !writes).map(({ target }) => target.id);
  if (present.length > 0) await importer.keep?.(present, context);
  const result = { ...written, unchanged: [...written.unchanged, ...isPassed, ...present] };
  merge(outcome, importer, result);
  const older = new Set(result.older);
  outcome.older.push(...chunk.filter(({ target }) => older.has(target.id)));
  for (const code of unmappedCodesOf(importer.type, rows, result)) outcome.unmapped.push(code);
  // What comes under which order is not known in a dry run.
  for (const row of dryRun !== undefined ? [] : rows) {
    const reason = older.has(row.id) ? undefined : reasonNotShown(importer.type, row.values);
    if (reason !== undefined) outcome.notShown.push({ type: importer.type, id: row.id, reason });
  }
  await noticeReplacedPatients(importer.type, rows, { result, context });
  return result;
}

/** Whom a record is about; nobody for what patients share, and for patients themselves. */
function subjectOf({ values: { patient_id: patientId } }: RecordRow): string[] {
  return typeof patientId === 'string' ? [patientId] : [];
}

const OF_REPLACED =
  'is about a patient who was replaced by another one. It was taken. Send it for the other patient if that is whom it is about';

/** Names what was written about patients who were replaced. */
async function noticeReplacedPatients(
  type: string,
  rows: readonly RecordRow[],
  { result, context }: { result: WriteResult; context: WriteContext },
): Promise<void> {
  const written = new Set([...result.created, ...result.updated]);
  const subjects = rows.flatMap((row) =>
    written.has(row.id) ? subjectOf(row).map((patientId) => ({ id: row.id, patientId })) : [],
  );
  const patientIds = new Set(subjects.map(({ patientId }) => patientId));
  const replaced = await replacedAmong(context.client, context.scope, [...patientIds]);
  const ids = subjects.filter(({ patientId }) => replaced.has(patientId)).map(({ id }) => id);
  context.notice(type, ids, OF_REPLACED);
}

function emptyOutcome(): UnitOutcome {
  return {
    resources: new Map(),
    unchanged: new Map(),
    older: [],
    notices: [],
    notKept: new ElementTally(),
    unresolved: new ElementTally(),
    unresolvedIn: [],
    gaveUp: false,
    missing: new Map(),
    rejected: [],
    waiting: [],
    patientsCreated: new Set(),
    patientsUpdated: new Set(),
    patientsRegistered: new Set(),
    patientsTouched: new Set(),
    notShown: [],
    unmapped: [],
  };
}

async function mapChunk(
  { request, context, outcome, resolver }: UnitWork,
  chunk: readonly UnitEntry[],
): Promise<MappedRecords> {
  const entries: EntryToMap[] = [];
  const pause = createPauses();
  for (const entry of chunk) {
    if (!entry.writes) continue;
    await pause();
    const text = decodeUtf8(await request.spool.read(entry.start, entry.end));
    try {
      const resource = request.unit.resourceIn(parseFhirJson(text));
      entries.push({ entry, resource, mayModify: mayModify(text) });
    } catch {
      // It was JSON when it was indexed: what fails here is depth, or a decimal with an absurd exponent.
      outcome.rejected.push({
        entry,
        reason: 'The resource is nested too deeply, or has a number that is too large or too small',
      });
    }
  }
  const mapped = await mapResources(context.client, { ...request, resolver, entries }, outcome);
  if (!request.moreToCome && !request.again) noteMissing(outcome, mapped.incomplete);
  return mapped;
}

/** Names that are held of what is missing; a unit that misses more is taken once more instead. */
const MISSING = 10_000;

function noteMissing(outcome: UnitOutcome, incomplete: readonly IncompleteRecord[]): void {
  for (const { entry, referenced } of incomplete)
    for (const record of referenced) {
      if (outcome.missing.size < MISSING)
        outcome.missing.set(`${record.type}/${record.name}`, { referenced: record, entry });
      else outcome.gaveUp = true;
    }
}

function merge(outcome: UnitOutcome, { type }: ResourceImporter, result: WriteResult): void {
  const { created, updated, unchanged } = result;
  const taken = created.length + updated.length + unchanged.length;
  if (taken > 0) count(outcome.resources, type, taken);
  if (unchanged.length > 0) count(outcome.unchanged, type, unchanged.length);
  if (type !== 'Patient') return;
  addAll(outcome.patientsCreated, created);
  addAll(outcome.patientsUpdated, updated);
}

function addAll(set: Set<string>, items: Iterable<string>): void {
  for (const item of items) set.add(item);
}

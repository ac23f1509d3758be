/** Imports one source: a Bundle, a single resource, or NDJSON lines of either. */
import type { Client } from '../../platform/db/database.ts';
import type { FacilityScope } from '../../tenancy/scope.ts';
import type { UnmappedRecorder } from '../../terminology/record-unmapped.ts';
import type { ImportReport } from './import-report.ts';
import { dataFault, type RunTransaction, repeatOnConflict } from './import-transaction.ts';
import { importUnit, type UnitOutcome, type UnitRequest } from './import-unit.ts';
import { indexBundle, indexLines, type Line, lineUnit, singleUnit } from './index-source.ts';
import { type JsonObject, ResourceRejected } from './json-resource.ts';
import type { MissingTargets } from './map-resources.ts';
import type { ResourceImporter } from './resource-importer.ts';
import type { SourceLimits } from './source/limits.ts';
import { detectLayout, type LinePosition } from './source/read-entries.ts';
import { SourceError } from './source/source-error.ts';
import type { Spool } from './source/spool.ts';

export interface PatientChange {
  patientId: string;
  event: 'created' | 'updated';
}

/** Called inside the transaction that changed the patients. */
export type OnPatientsChanged = (
  client: Client,
  scope: FacilityScope,
  changed: readonly PatientChange[],
) => Promise<void>;

export interface ImportRun {
  scope: FacilityScope;
  importers: ReadonlyMap<string, ResourceImporter>;
  limits: SourceLimits;
  transaction: RunTransaction;
  missingTargets: MissingTargets;
  /** True when there is no other source. */
  alone: boolean;
  report: ImportReport;
  onPatientsChanged: OnPatientsChanged | undefined;
  /** Collects the patients that the import is about, where that is asked for. */
  patients: Set<string> | undefined;
  /** Counts local codes of what was committed. */
  unmapped: UnmappedRecorder | undefined;
}

/** What of a source could not be done because targets may still come; undefined for nothing. */
export type Waiting = 'whole' | ReadonlySet<number> | undefined;

/**
 * Import a source, or of NDJSON only the lines `only`. Everything that is known about it goes to the run's
 * report; what waits for targets is returned instead.
 */
export async function importSource(
  run: ImportRun,
  file: string,
  spool: Spool,
  only?: ReadonlySet<number>,
): Promise<Waiting> {
  try {
    const { kind, start } = await detectLayout(spool);
    const range = { start, end: spool.sizeBytes };
    if (kind === 'lines') return await importLines(run, { file, spool, start, only });
    // What a single document refers to and does not hold will not come.
    const whole: ImportRun = run.alone ? { ...run, missingTargets: 'accept' } : run;
    const waits = await repeatOnConflict(() =>
      importDocument(whole, { file, spool, range, line: undefined }),
    );
    return waits ? 'whole' : undefined;
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    if (error.entry === undefined) run.report.unreadable += 1;
    run.report.reject({ file, entry: error.entry ?? null, reason: error.message });
    return undefined;
  }
}

/** Reasons that are listed for one Bundle at most. */
const REASONS = 20;

interface DocumentPlace {
  file: string;
  spool: Spool;
  range: { start: number; end: number };
  /** Number of the line that holds the document; undefined for a whole file. */
  line: number | undefined;
}

/** True when it waits for targets. */
async function importDocument(run: ImportRun, place: DocumentPlace): Promise<boolean> {
  const indexed = await indexBundle(place.spool, place.range, run);
  if (indexed.kind === 'resource') return importSingle(run, place, indexed.resource);
  for (const { entry, resourceType, reason } of indexed.rejected)
    reject(run, place, { entry, ...(resourceType === undefined ? {} : { resourceType }), reason });
  if (indexed.rejected.length > 0) return false;
  const { unit } = indexed;
  const resourceOf = (entry: unknown) => (entry as { resource: JsonObject }).resource;
  const result = await runUnit(run, { unit, spool: place.spool, resourceOf, maxReasons: REASONS });
  if (result.kind === 'waiting') return true;
  if (result.kind === 'done') {
    run.report.bundles += 1;
    run.report.addNotTaken(unit.notTaken);
  } else for (const rejection of result.rejected) reject(run, place, rejection);
  return false;
}

async function importSingle(run: ImportRun, place: DocumentPlace, resource: JsonObject): Promise<boolean> {
  const unit = rejecting(run, place, () =>
    singleUnit(resource, { number: place.line ?? 1, ...place.range }, run),
  );
  if (unit === undefined) return false;
  const part = { unit, spool: place.spool, resourceOf: wholeDocument, maxReasons: 1 };
  const result = await runUnit(run, part);
  if (result.kind === 'rejected') for (const rejection of result.rejected) reject(run, place, rejection);
  else if (result.kind === 'done') run.report.addNotTaken(unit.notTaken);
  return result.kind === 'waiting';
}

type Rejected = { entry: number | null; resourceType?: string; reason: string };
type UnitResult =
  | { kind: 'done' }
  | { kind: 'waiting'; waiting: readonly number[] }
  | { kind: 'rejected'; rejected: Rejected[] }
  /** The database refused the data, and did not say which resource. */
  | { kind: 'refused'; reason: string };

type UnitPart = Pick<UnitRequest, 'unit' | 'spool' | 'resourceOf' | 'maxReasons'>;

/** A refusal of the whole unit is a rejection of it. */
async function runUnit(run: ImportRun, part: UnitPart): Promise<Exclude<UnitResult, { kind: 'refused' }>> {
  const result = await tryUnit(run, part);
  if (result.kind !== 'refused') return result;
  return { kind: 'rejected', rejected: [{ entry: null, reason: `A resource ${result.reason}` }] };
}

async function tryUnit(run: ImportRun, part: UnitPart): Promise<UnitResult> {
  const { scope, importers, missingTargets } = run;
  if (part.unit.entries.length === 0) return { kind: 'done' };
  try {
    const outcome = await run.transaction(async (client) => {
      const written = await importUnit(client, { scope, importers, missingTargets, ...part });
      if (written.rejected.length > 0 || written.waiting.length > 0) throw new UnitStopped(written);
      await announce(run, client, written);
      return written;
    });
    run.report.add(outcome);
    for (const id of outcome.patientsTouched) run.patients?.add(id);
    for (const { place, coding } of outcome.unmapped) run.unmapped?.met(scope, place, [coding]);
    return { kind: 'done' };
  } catch (error) {
    if (error instanceof UnitStopped) return stoppedResult(error.outcome);
    const reason = dataFault(error);
    if (reason === undefined) throw error;
    return { kind: 'refused', reason };
  }
}

/** Carries the outcome out of the transaction that it rolls back. */
class UnitStopped extends Error {
  override name = 'UnitStopped';
  readonly outcome: UnitOutcome;

  constructor(outcome: UnitOutcome) {
    super('The unit was not taken');
    this.outcome = outcome;
  }
}

function stoppedResult({ rejected, waiting }: UnitOutcome): UnitResult {
  if (rejected.length === 0) return { kind: 'waiting', waiting };
  return {
    kind: 'rejected',
    rejected: rejected.map(({ entry, reason }) => ({
      entry: entry.number,
      resourceType: entry.target.type,
      reason,
    })),
  };
}

async function announce(run: ImportRun, client: Client, outcome: UnitOutcome): Promise<void> {
  const created = [...outcome.patientsCreated];
  const updated = [...outcome.patientsUpdated].filter((id) => !outcome.patientsCreated.has(id));
  const changed: PatientChange[] = [
    ...created.map((patientId) => ({ patientId, event: 'created' as const })),
    ...updated.map((patientId) => ({ patientId, event: 'updated' as const })),
  ];
  if (changed.length > 0) await run.onPatientsChanged?.(client, run.scope, changed);
}

interface LinesPlace {
  file: string;
  spool: Spool;
  start: number;
  only: ReadonlySet<number> | undefined;
}

async function importLines(run: ImportRun, place: LinesPlace): Promise<Waiting> {
  const waiting = new Set<number>();
  let from: LinePosition | undefined = { start: place.start, before: 0 };
  while (from !== undefined) from = await importSomeLines(run, place, from, waiting);
  return waiting.size === 0 ? undefined : waiting;
}

/** Lines go by the order of their types, many in one transaction; Bundles among them last, each in its own. */
async function importSomeLines(
  run: ImportRun,
  place: LinesPlace,
  position: LinePosition,
  waiting: Set<number>,
): Promise<LinePosition | undefined> {
  const { file, spool, only } = place;
  const { lines, bundles, notTaken, rejected, next } = await indexLines(spool, position, run, only);
  run.report.addNotTaken(notTaken);
  for (const { entry, reason } of rejected) run.report.reject({ file, entry, reason });
  for (let from = 0; from < lines.length; ) {
    from += await importRun(run, place, lines.slice(from, from + LINES), waiting);
  }
  for (const { number, ...range } of bundles) {
    if (await importLineBundle(run, { file, spool, range, line: number })) waiting.add(number);
  }
  return next;
}

async function importLineBundle(run: ImportRun, place: DocumentPlace): Promise<boolean> {
  try {
    return await repeatOnConflict(() => importDocument(run, place));
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    reject(run, place, { entry: error.entry ?? null, reason: error.message });
    return false;
  }
}

/** Lines in one transaction at most. */
const LINES = 500;

/** Import the first of `lines`, each of which stands for itself; returns how many were dealt with. */
async function importRun(
  run: ImportRun,
  place: LinesPlace,
  lines: readonly Line[],
  waiting: Set<number>,
): Promise<number> {
  const { used, result } = await repeatOnConflict(async () => {
    const { unit, used } = await lineUnit(place.spool, lines, run);
    const part = { unit, spool: place.spool, resourceOf: wholeDocument, maxReasons: LINES };
    return { used, result: await tryUnit(run, part) };
  });
  if (result.kind === 'done') return used;
  const some = lines.slice(0, used);
  if (result.kind === 'refused') {
    if (used > 1) for (const line of some) await importRun(run, place, [line], waiting);
    else
      run.report.reject({
        file: place.file,
        entry: some[0]?.number ?? null,
        reason: `The resource ${result.reason}`,
      });
    return used;
  }
  const stopped = new Set(
    result.kind === 'waiting' ? result.waiting : result.rejected.map(({ entry }) => entry),
  );
  if (result.kind === 'waiting') for (const number of result.waiting) waiting.add(number);
  else for (const rejection of result.rejected) run.report.reject({ file: place.file, ...rejection });
  const left = some.filter(({ number }) => !stopped.has(number));
  for (let done = 0; done < left.length; ) done += await importRun(run, place, left.slice(done), waiting);
  return used;
}

function wholeDocument(parsed: unknown): JsonObject {
  return parsed as JsonObject;
}

function reject(run: ImportRun, { file, line }: DocumentPlace, rejection: Rejected): void {
  if (line === undefined) run.report.reject({ file, ...rejection });
  else {
    const where = rejection.entry === null ? '' : `entry ${rejection.entry} of the Bundle: `;
    run.report.reject({ file, ...rejection, entry: line, reason: `${where}${rejection.reason}` });
  }
}

function rejecting<T>(run: ImportRun, place: DocumentPlace, work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof ResourceRejected)) throw error;
    reject(run, place, { entry: place.line ?? 1, reason: error.message });
    return undefined;
  }
}

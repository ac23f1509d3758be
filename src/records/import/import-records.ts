/**
 * The import (design 3.7): any number of sources, one after the other or by several workers.
 *
 * Sources are taken in the order given. What refers to something that is not there yet waits until the
 * others are in, so that the order of files does not matter:
 *
 * 1. every source; what refers to a target that is not there waits, whole Bundle by whole Bundle;
 * 2. the waiting ones again, as long as fewer of them wait than before;
 * 3. the rest, optional references that lead nowhere kept as their display;
 * 4. what still waits for a target that it cannot do without is rejected with the reason.
 */
import type { Pool } from '../../platform/db/database.ts';
import type { FacilityScope } from '../../tenancy/scope.ts';
import { createUnmappedRecorder } from '../../terminology/record-unmapped.ts';
import { type ImportDocument, ImportReport } from './import-report.ts';
import { importSource } from './import-source.ts';
import {
  faultText,
  inDryRun,
  inTransactions,
  isDatabaseGone,
  type RunTransaction,
} from './import-transaction.ts';
import { IMPORTERS } from './importers.ts';
import type { LineNumbers } from './line-numbers.ts';
import type { MissingTargets } from './map-resources.ts';
import type { Reach, ResourceImporter } from './resource-importer.ts';
import type { ImportRun, OnPatients, OnPatientsChanged } from './run-unit.ts';
import { DEFAULT_LIMITS, type SourceLimits } from './source/limits.ts';
import { SourceError } from './source/source-error.ts';
import type { Spool } from './source/spool.ts';

export interface ImportDependencies {
  db: Pool;
  /** Types that are taken; default all of `importers.ts`. */
  importers?: ReadonlyMap<string, ResourceImporter>;
  limits?: SourceLimits;
  /** Called in the transaction of each change of patients, for the exchange's outbox. */
  onPatientsChanged?: OnPatientsChanged;
}

export interface ImportSource {
  /** How it is named in the report. */
  name: string;
  sizeBytes: number;
  /** May be called again after the last spool was closed. Throws SourceError. */
  open(): Promise<Spool>;
}

export interface ImportRequest {
  scope: FacilityScope;
  sources: readonly ImportSource[];
  /** Sources that are imported at the same time, each with a connection of its own; default 1. */
  workers?: number;
  /** Do everything, and leave nothing behind. */
  dryRun?: boolean;
  /** Called when a source is done with, with its size. */
  onProgress?: (sizeBytes: number) => void;
  /** Default `organisation`: patients of other facilities are found by identifier and id, and registered here too. */
  reach?: Reach;
  /** For the access log. Not called in a dry run. */
  onPatients?: OnPatients;
  /** What fails unexpectedly is among the rejected, and the other sources go on. Otherwise it is thrown. */
  keepGoing?: boolean;
}

export interface ImportResult {
  document: ImportDocument;
  /** Sources that are no FHIR JSON at all; they are among the rejected. */
  unreadable: number;
}

export async function importRecords(deps: ImportDependencies, request: ImportRequest): Promise<ImportResult> {
  const report = new ImportReport();
  const unmapped = createUnmappedRecorder({
    db: deps.db,
    now: () => new Date(),
    // Counts that cannot be written are tried again, and lost at the end: the records matter more.
    onError: () => undefined,
  });
  const importAll = async (transaction: RunTransaction, workers: number): Promise<void> => {
    const run: RunOfRounds = {
      keepGoing: request.keepGoing === true,
      gone: new AbortController(),
      scope: request.scope,
      alone: request.sources.length === 1,
      importers: deps.importers ?? IMPORTERS,
      limits: deps.limits ?? DEFAULT_LIMITS,
      transaction,
      report,
      onPatientsChanged: deps.onPatientsChanged,
      reach: request.reach ?? 'organisation',
      onPatients: request.dryRun === true ? undefined : request.onPatients,
      unmapped: request.dryRun === true ? undefined : unmapped,
    };
    await importInRounds(run, request, workers);
  };
  try {
    if (request.dryRun === true) await inDryRun(deps.db, (transaction) => importAll(transaction, 1));
    else await importAll(inTransactions(deps.db), request.workers ?? 1);
  } finally {
    await unmapped.close();
  }
  return { document: report.document(), unreadable: report.unreadable };
}

interface RunOfRounds extends Omit<ImportRun, 'missingTargets'> {
  keepGoing: boolean;
  /** Aborted once the database is out of reach. */
  gone: AbortController;
}

/** A source that still has to be imported, or the lines of it that do. */
interface Task {
  source: ImportSource;
  only?: LineNumbers;
}

/** Rounds in which the waiting sources are tried again before optional targets are given up. */
const PATIENT_ROUNDS = 3;

async function importInRounds(
  run: RunOfRounds,
  { sources, onProgress }: ImportRequest,
  workers: number,
): Promise<void> {
  const round = (tasks: readonly Task[], missingTargets: MissingTargets, done?: (task: Task) => void) =>
    importTasks({ ...run, missingTargets }, tasks, workers, done);
  run.report.files += sources.length;
  let waiting = await round(
    sources.map((source) => ({ source })),
    'wait',
    ({ source }) => onProgress?.(source.sizeBytes),
  );
  for (
    let rounds = 1, before = sources.length;
    rounds < PATIENT_ROUNDS && fewer(waiting, before);
    rounds += 1
  ) {
    before = waiting.length;
    waiting = await round(waiting, 'wait');
  }
  for (let before = Number.POSITIVE_INFINITY; fewer(waiting, before); ) {
    before = waiting.length;
    waiting = await round(waiting, 'wait-required');
  }
  await round(waiting, 'accept');
}

function fewer(waiting: readonly Task[], before: number): boolean {
  return waiting.length > 0 && waiting.length < before;
}

/** Import the tasks by several workers; returns what waits, in the same order. */
async function importTasks(
  run: RunOfRounds & ImportRun,
  tasks: readonly Task[],
  workers: number,
  done?: (task: Task) => void,
): Promise<Task[]> {
  const waiting: (Task | undefined)[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    for (let index = next; index < tasks.length; index = next) {
      next += 1;
      const task = tasks[index] as Task;
      waiting[index] = await importTask(run, task).catch((error) => fail(run, task, error));
      done?.(task);
    }
  };
  await Promise.all(Array.from({ length: Math.min(workers, tasks.length) }, work));
  return waiting.filter((task) => task !== undefined);
}

/** One source that fails unexpectedly does not lose what is known about the others. */
function fail(run: RunOfRounds, { source }: Task, error: unknown): undefined {
  if (!run.keepGoing) throw error;
  if (isDatabaseGone(error)) run.gone.abort();
  run.report.reject({
    file: source.name,
    entry: null,
    reason: `broke off with an unexpected failure (${faultText(error)}); what was taken by then is counted`,
  });
}

async function importTask(run: RunOfRounds & ImportRun, { source, only }: Task): Promise<Task | undefined> {
  if (run.gone.signal.aborted) {
    const reason = 'was not imported: the database is out of reach';
    run.report.reject({ file: source.name, entry: null, reason });
    return undefined;
  }
  let spool: Spool;
  try {
    spool = await source.open();
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    run.report.unreadable += 1;
    run.report.reject({ file: source.name, entry: null, reason: error.message });
    return undefined;
  }
  try {
    const waits = await importSource(run, source.name, spool, only);
    if (waits === undefined) return undefined;
    return waits === 'whole' ? { source } : { source, only: waits };
  } finally {
    await spool.close();
  }
}

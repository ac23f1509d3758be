/**
 * The order of sources does not matter (docs/adr/0103):
 *
 * 1. Every source, in the order given. A resource is taken without an optional referenced record that is not there yet.
 *    A Bundle or line that cannot do without its referenced record, or refers to a record of another patient, waits.
 * 2. What waits is tried again, for as long as fewer of it wait than before. What is left is tried a last time, and
 *    rejected where its referenced record is still not there.
 * 3. What was taken without a referenced record is taken once more, now that everything is there.
 * Contract: IN-2, IN-13, IN-16.
 */

import { detectLayout } from '../source/read-entries.ts';
import { SourceError } from '../source/source-error.ts';
import type { Spool } from '../source/spool.ts';
import { importDocument } from './import-document.ts';
import { importLines } from './import-lines.ts';
import type { ImportRun } from './import-run.ts';
import { faultText, isDatabaseGone, repeatOnConflict } from './import-transaction.ts';
import type { LineNumbers } from './line-numbers.ts';
import { ImportStopped } from './stop-import.ts';

/** What is said of the database when it is gone. */
const OUT_OF_REACH = 'cannot be reached or takes no writes';

export interface ImportSource {
  /** How it is named in the report. */
  name: string;
  sizeBytes: number;
  /** May be called again after the last spool was closed. Throws SourceError. */
  open(): Promise<Spool>;
}

export interface RunOfSources extends Omit<ImportRun, 'moreToCome' | 'again' | 'place'> {
  keepGoing: boolean;
  /** Aborted once the database is out of reach, or takes no writes. */
  gone: AbortController;
  /** Aborted when the import is to end early. */
  stop: AbortSignal | undefined;
}

/** A source that still has to be imported, or the lines of it that do. */
interface Task {
  source: ImportSource;
  /** Among the sources of the import. */
  index: number;
  only?: LineNumbers;
}

/** What of a source is left to do. */
interface Left {
  /** Cannot do without referenced records that may still come. */
  waiting?: Task | undefined;
  /** Was taken without a referenced record that may still come. */
  gaveUp?: Task | undefined;
}

export async function importSources(
  run: RunOfSources,
  sources: readonly ImportSource[],
  workers: number,
): Promise<void> {
  const late: Task[] = [];
  const round = async (tasks: readonly Task[], more: Partial<ImportRun>): Promise<Task[]> => {
    const left = await importTasks(
      { ...run, moreToCome: true, again: false, place: undefined, ...more },
      tasks,
      workers,
    );
    late.push(...left.flatMap(({ gaveUp }) => gaveUp ?? []));
    return left.flatMap(({ waiting }) => waiting ?? []);
  };
  let waiting = await round(
    sources.map((source, index) => ({ source, index })),
    {},
  );
  for (let before = Infinity; waiting.length > 0 && size(waiting) < before; ) {
    before = size(waiting);
    waiting = await round(waiting, {});
  }
  await round(waiting, { moreToCome: false });
  await round(late, { moreToCome: false, again: true });
}

/** How many documents and lines are left. */
function size(tasks: readonly Task[]): number {
  return tasks.reduce((total, { only }) => total + (only?.size ?? 1), 0);
}

/** Import the tasks by several workers; what is left of them is in the same order. */
async function importTasks(
  run: RunOfSources & ImportRun,
  tasks: readonly Task[],
  workers: number,
): Promise<Left[]> {
  const left: Left[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    for (let index = next; index < tasks.length && run.stop?.aborted !== true; index = next) {
      next += 1;
      const task = tasks[index] as Task;
      run.report.begin(task.index);
      const rest = await importTask(run, task).catch((error) => fail(run, task, error));
      if (rest === undefined) return;
      left[index] = rest;
      // What was taken once is done already when it is taken once more.
      if (rest.waiting === undefined && !run.again) run.report.readWhole(task.index, task.source.sizeBytes);
    }
  };
  await Promise.all(Array.from({ length: Math.min(workers, tasks.length) }, work));
  return left;
}

/** One source that fails unexpectedly does not lose what is known about the others. Undefined where it was stopped. */
function fail(run: RunOfSources, { source }: Task, error: unknown): Left | undefined {
  if (error instanceof ImportStopped) return undefined;
  if (!run.keepGoing) throw error;
  const isGone = isDatabaseGone(error);
  if (isGone) run.gone.abort();
  const why = isGone ? `, because the database ${OUT_OF_REACH}` : ' with an unexpected failure';
  run.report.reject({
    file: source.name,
    entry: null,
    reason: `stopped${why} (${faultText(error)}). What was imported before is counted. Import it again${isGone ? ' later' : ''}`,
  });
  return {};
}

async function importTask(run: RunOfSources & ImportRun, task: Task): Promise<Left> {
  const { name } = task.source;
  if (run.gone.signal.aborted) {
    const reason = `was not imported, because the database ${OUT_OF_REACH}. Import it again later`;
    run.report.reject({ file: name, entry: null, reason });
    return {};
  }
  try {
    const spool = await task.source.open();
    try {
      return await importSpool({ ...run, place: [task.index] }, spool, task);
    } finally {
      await spool.close();
    }
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    run.report.unreadable += 1;
    run.report.reject({ file: name, entry: error.entry ?? null, reason: error.message });
    return {};
  }
}

async function importSpool(run: ImportRun, spool: Spool, { source, index, only }: Task): Promise<Left> {
  const { name: file, sizeBytes } = source;
  const { kind, start } = await detectLayout(spool);
  if (kind === 'lines') {
    run.report.contents.add('lines');
    const { waiting, gaveUp } = await importLines(run, { file, index, spool, sizeBytes, start, only });
    const of = (lines: LineNumbers): Task | undefined =>
      lines.size === 0 ? undefined : { source, index, only: lines };
    return { waiting: of(waiting), gaveUp: of(gaveUp) };
  }
  // What a single document refers to and does not hold will not come.
  const whole = run.alone ? { ...run, moreToCome: false, place: undefined } : run;
  const range = { start, end: spool.sizeBytes };
  const left = await repeatOnConflict(() => importDocument(whole, { file, spool, range, line: undefined }));
  return {
    waiting: left === 'waiting' ? { source, index } : undefined,
    gaveUp: left === 'gave up' ? { source, index } : undefined,
  };
}

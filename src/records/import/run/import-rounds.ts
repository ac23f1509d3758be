/**
 * The order of sources does not matter (docs/adr/0060): what refers to something that is not there yet waits until
 * the others are in.
 *
 * 1. Every source, in the order given. What refers to a target that is not there waits, whole Bundle by whole Bundle.
 * 2. The waiting ones again, by the order in which types are written, for as long as fewer of them wait than before.
 *    They wait for records that wait themselves, and for nothing else.
 * 3. What is left waits in a circle, or in a very long chain: it is taken without the optional targets.
 * 4. What still waits for a target that it cannot do without is rejected with the reason.
 * 5. What was taken in 3 and 4 without a target that has come since is taken again.
 * Contract: IN-13, IN-16.
 */

import type { MissingTargets } from '../map/map-resources.ts';
import { RecordNames } from '../resolve/record-names.ts';
import { SourceError } from '../source/source-error.ts';
import type { Spool } from '../source/spool.ts';
import { type ImportSource, importSource, type Part } from './import-source.ts';
import { faultText, isDatabaseGone } from './import-transaction.ts';
import type { ImportRun } from './run-unit.ts';

export interface RunOfRounds extends Omit<ImportRun, 'missingTargets' | 'expected' | 'held' | 'again'> {
  keepGoing: boolean;
  /** Aborted once the database is out of reach, or takes no writes. */
  gone: AbortController;
}

/** A source that still has to be imported, or the lines of it that do. */
interface Task extends Part {
  source: ImportSource;
}

interface RoundResult {
  waiting: Task[];
  gaveUp: Task[];
  /** The records of what waits. */
  held: RecordNames;
}

/** Rounds of step 2 at most: a chain of references that runs against the order of files takes one for each link. */
const PATIENT_ROUNDS = 16;

export async function importInRounds(
  run: RunOfRounds,
  { sources, onProgress }: { sources: readonly ImportSource[]; onProgress?: (sizeBytes: number) => void },
  workers: number,
): Promise<void> {
  const late: Task[] = [];
  const round = async (
    missingTargets: MissingTargets,
    tasks: readonly Task[],
    more: { expected?: RecordNames; again?: boolean; done?: (task: Task) => void } = {},
  ): Promise<RoundResult> => {
    const held = new RecordNames();
    const { expected, again = false, done } = more;
    const left = await importTasks({ ...run, missingTargets, expected, held, again }, tasks, workers, done);
    late.push(...left.gaveUp);
    return { ...left, held };
  };
  const progress = ({ source }: Task) => onProgress?.(source.sizeBytes);
  run.report.files += sources.length;
  const all = sources.map((source) => ({ source, order: 0 }));
  let left = await round('wait', all, { done: progress });
  for (let rounds = 0, before = Infinity; rounds < PATIENT_ROUNDS && fewer(left, before); rounds += 1) {
    before = size(left.waiting);
    left = await round('wait-expected', inOrder(left.waiting), { expected: left.held });
  }
  for (let before = Infinity; fewer(left, before); ) {
    before = size(left.waiting);
    left = await round('wait-required', inOrder(left.waiting), { expected: left.held });
  }
  await round('accept', inOrder(left.waiting), { expected: left.held });
  await round('accept', inOrder(late.splice(0)), { again: true });
}

function fewer({ waiting }: RoundResult, before: number): boolean {
  return waiting.length > 0 && size(waiting) < before;
}

/** Documents and lines. */
function size(tasks: readonly Task[]): number {
  return tasks.reduce((total, { only }) => total + (only?.size ?? 1), 0);
}

function inOrder(tasks: readonly Task[]): Task[] {
  return tasks.toSorted((a, b) => a.order - b.order);
}

/** Import the tasks by several workers; what is left of them is in the same order. */
async function importTasks(
  run: RunOfRounds & ImportRun,
  tasks: readonly Task[],
  workers: number,
  done?: (task: Task) => void,
): Promise<Pick<RoundResult, 'waiting' | 'gaveUp'>> {
  const left: { waiting?: Task | undefined; gaveUp?: Task | undefined }[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    for (let index = next; index < tasks.length; index = next) {
      next += 1;
      const task = tasks[index] as Task;
      left[index] = await importTask(run, task).catch((error) => fail(run, task, error));
      done?.(task);
    }
  };
  await Promise.all(Array.from({ length: Math.min(workers, tasks.length) }, work));
  return {
    waiting: left.flatMap(({ waiting }) => waiting ?? []),
    gaveUp: left.flatMap(({ gaveUp }) => gaveUp ?? []),
  };
}

/** One source that fails unexpectedly does not lose what is known about the others. */
function fail(run: RunOfRounds, { source }: Task, error: unknown): Record<string, never> {
  if (!run.keepGoing) throw error;
  if (isDatabaseGone(error)) run.gone.abort();
  run.report.reject({
    file: source.name,
    entry: null,
    reason: `broke off with an unexpected failure (${faultText(error)}); what was taken by then is counted`,
  });
  return {};
}

async function importTask(
  run: RunOfRounds & ImportRun,
  { source, only }: Task,
): Promise<{ waiting?: Task | undefined; gaveUp?: Task | undefined }> {
  if (run.gone.signal.aborted) {
    const reason = 'was not imported: the database cannot be reached, or takes no writes';
    run.report.reject({ file: source.name, entry: null, reason });
    return {};
  }
  let spool: Spool;
  try {
    spool = await source.open();
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    run.report.unreadable += 1;
    run.report.reject({ file: source.name, entry: null, reason: error.message });
    return {};
  }
  try {
    const { waiting, gaveUp } = await importSource(run, source.name, spool, only);
    const task = (part: Part | undefined): Task | undefined =>
      part === undefined ? part : { source, ...part };
    return { waiting: task(waiting), gaveUp: task(gaveUp) };
  } finally {
    await spool.close();
  }
}

/** Imports NDJSON: each line stands for itself, and many go in one transaction. Contract: IN-14. */

import { indexLines, type Line, lineUnit, type OnBrokenLine } from '../resolve/index-source.ts';
import type { LinePosition } from '../source/read-entries.ts';
import { SourceError } from '../source/source-error.ts';
import type { Spool } from '../source/spool.ts';
import { type DocumentLeft, type DocumentPlace, importDocument, reject } from './import-document.ts';
import type { ImportRun } from './import-run.ts';
import { repeatOnConflict } from './import-transaction.ts';
import { LineNumbers } from './line-numbers.ts';
import { runUnit } from './run-unit.ts';

export interface LinesPlace {
  file: string;
  /** Among the sources of the import. */
  index: number;
  spool: Spool;
  /** Of the file as it was found, which may be gzip. */
  sizeBytes: number;
  start: number;
  only: LineNumbers | undefined;
}

/** Lines that are not done with. */
export interface LinesLeft {
  waiting: LineNumbers;
  /** To be taken again once everything else is there. */
  gaveUp: LineNumbers;
}

export async function importLines(run: ImportRun, place: LinesPlace): Promise<LinesLeft> {
  const progress: Progress = { waiting: new LineNumbers(), gaveUp: new LineNumbers(), faults: 0 };
  let from: LinePosition | undefined = { start: place.start, before: 0 };
  const { maxLines } = run.limits;
  while (from !== undefined) {
    if (from.before === maxLines) {
      const reason = `is after the limit of ${maxLines} lines. Split the file.`;
      // Said once: those before it that wait are taken later.
      if (place.only === undefined) run.report.reject({ file: place.file, entry: maxLines + 1, reason });
      break;
    }
    from = await importSomeLines(run, place, from, progress);
    if (from !== undefined) run.report.readTo(place.index, takenOf(place, from, progress.waiting.size));
  }
  return progress;
}

/** Bytes of the file that come to its content before `start`, without the share of the lines that wait. */
function takenOf({ spool, sizeBytes }: LinesPlace, { start, before }: LinePosition, waiting: number): number {
  return Math.round(((sizeBytes * start) / spool.sizeBytes) * (1 - waiting / before));
}

interface Progress extends LinesLeft {
  /** Lines that are no FHIR. */
  faults: number;
}

/** Lines go by the order of their types, many in one transaction; Bundles among them last, each in its own. */
async function importSomeLines(
  run: ImportRun,
  place: LinesPlace,
  position: LinePosition,
  progress: Progress,
): Promise<LinePosition | undefined> {
  const { file, spool, only } = place;
  const { maxFaults } = run.limits;
  const onBroken: OnBrokenLine = ({ entry, reason }) => {
    run.report.reject({ file, entry, reason });
    progress.faults += 1;
    if (progress.faults < maxFaults) return undefined;
    run.report.reject({
      file,
      entry,
      reason: `The lines after this one were not read, because ${maxFaults} lines are not FHIR`,
    });
    return 'stop';
  };
  const { lines, bundles, notTaken, rejected, next } = await indexLines(spool, position, {
    ...run,
    only,
    onBroken,
  });
  run.report.addNotTaken(notTaken);
  for (const one of rejected) run.report.reject({ file, ...one });
  for (let from = 0; from < lines.length; ) {
    from += await importTogether(run, place, lines.slice(from, from + LINES), progress);
  }
  for (const { number, ...range } of bundles) {
    const left = await importLineBundle(
      { ...run, place: [...(run.place ?? []), number] },
      { file, spool, range, line: number },
    );
    if (left !== undefined) (left === 'waiting' ? progress.waiting : progress.gaveUp).add(number);
  }
  return next;
}

async function importLineBundle(run: ImportRun, place: DocumentPlace): Promise<DocumentLeft | undefined> {
  try {
    return await repeatOnConflict(() => importDocument(run, place));
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    reject(run, place, { entry: error.entry ?? null, reason: error.message });
    return undefined;
  }
}

/** Lines in one transaction at most. */
const LINES = 500;
/** Attempts at many lines at once. */
const ATTEMPTS = 8;

/**
 * Import the first of `lines`, each of which stands for itself; returns how many were dealt with. What waits or is
 * rejected is left out of the next attempt; after some attempts lines go one by one, so that lines which wait for each
 * other cost no more than that.
 */
async function importTogether(
  run: ImportRun,
  place: LinesPlace,
  lines: readonly Line[],
  left: LinesLeft,
  attempts = 1,
): Promise<number> {
  const { used, result } = await repeatOnConflict(async () => {
    const { unit, used } = await lineUnit(place.spool, lines, run.limits);
    return { used, result: await runUnit(run, { ...place, unit }) };
  });
  if (result.kind === 'done') {
    for (const number of result.gaveUp) left.gaveUp.add(number);
    return used;
  }
  const some = lines.slice(0, used);
  if (result.kind === 'refused') {
    if (used > 1) await importEach(run, place, some, left);
    else rejectLine(run, place, some[0], result.reason);
    return used;
  }
  const stopped = new Set(
    result.kind === 'waiting' ? result.waiting : result.rejected.map(({ entry }) => entry ?? 0),
  );
  if (result.kind === 'waiting') for (const number of stopped) left.waiting.add(number);
  else for (const rejection of result.rejected) run.report.reject({ file: place.file, ...rejection });
  const others = some.filter(({ number }) => !stopped.has(number));
  if (attempts >= ATTEMPTS) await importEach(run, place, others, left);
  else
    for (let done = 0; done < others.length; )
      done += await importTogether(run, place, others.slice(done), left, attempts + 1);
  return used;
}

async function importEach(
  run: ImportRun,
  place: LinesPlace,
  lines: readonly Line[],
  left: LinesLeft,
): Promise<void> {
  for (const line of lines) await importTogether(run, place, [line], left);
}

function rejectLine(run: ImportRun, { file }: LinesPlace, line: Line | undefined, reason: string): void {
  run.report.reject({ file, entry: line?.number ?? null, reason: `The resource ${reason}` });
}

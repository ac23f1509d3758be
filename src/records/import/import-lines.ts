/** Imports NDJSON: each line stands for itself, and many go in one transaction. */
import { type DocumentPlace, importDocument, reject } from './import-document.ts';
import { repeatOnConflict } from './import-transaction.ts';
import { indexLines, type Line, lineUnit, type OnBrokenLine } from './index-source.ts';
import { LineNumbers } from './line-numbers.ts';
import { type ImportRun, tryUnit, wholeDocument } from './run-unit.ts';
import type { LinePosition } from './source/read-entries.ts';
import { SourceError } from './source/source-error.ts';
import type { Spool } from './source/spool.ts';

export interface LinesPlace {
  file: string;
  spool: Spool;
  start: number;
  only: LineNumbers | undefined;
}

/** Numbers of the lines that wait for targets. */
export async function importLines(run: ImportRun, place: LinesPlace): Promise<LineNumbers> {
  const progress: Progress = { waiting: new LineNumbers(), faults: 0 };
  let from: LinePosition | undefined = { start: place.start, before: 0 };
  const { maxLines } = run.limits;
  while (from !== undefined) {
    if (from.before === maxLines)
      throw new SourceError(`is past ${maxLines} lines, the limit. Split the file.`, { entry: maxLines + 1 });
    from = await importSomeLines(run, place, from, progress);
  }
  return progress.waiting;
}

interface Progress {
  waiting: LineNumbers;
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
  const { waiting } = progress;
  const { maxFaults } = run.limits;
  const onBroken: OnBrokenLine = ({ entry, reason }) => {
    run.report.reject({ file, entry, reason });
    progress.faults += 1;
    if (progress.faults < maxFaults) return undefined;
    run.report.reject({
      file,
      entry,
      reason: `The lines after this one were not read: ${maxFaults} lines are no FHIR`,
    });
    return 'stop';
  };
  const { lines, bundles, notTaken, next } = await indexLines(spool, position, { ...run, only, onBroken });
  run.report.addNotTaken(notTaken);
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
  waiting: LineNumbers,
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

/** Imports one source: a Bundle, a single resource, or NDJSON lines of either. Contract: IN-2. */

import { detectLayout } from '../source/read-entries.ts';
import { SourceError } from '../source/source-error.ts';
import type { Spool } from '../source/spool.ts';
import { importDocument } from './import-document.ts';
import { importLines } from './import-lines.ts';
import { repeatOnConflict } from './import-transaction.ts';
import type { LineNumbers } from './line-numbers.ts';
import type { ImportRun } from './run-unit.ts';

export interface ImportSource {
  /** How it is named in the report. */
  name: string;
  sizeBytes: number;
  /** May be called again after the last spool was closed. Throws SourceError. */
  open(): Promise<Spool>;
}

/** What of a source is left: all of it, or of NDJSON the lines `only`. */
export interface Part {
  only?: LineNumbers;
  /** The last of its types in the order of writing; of lines, which are sorted by type when their turn comes, any. */
  order: number;
}

export interface Left {
  /** Could not be done because targets may still come. */
  waiting?: Part | undefined;
  /** Was done without a target that may still come: to be done again. */
  gaveUp?: Part | undefined;
}

/**
 * Import a source, or of NDJSON only the lines `only`. Everything that is known about it goes to the run's
 * report; what is left to do is returned.
 */
export async function importSource(
  run: ImportRun,
  file: string,
  spool: Spool,
  only?: LineNumbers,
): Promise<Left> {
  try {
    const { kind, start } = await detectLayout(spool);
    const range = { start, end: spool.sizeBytes };
    if (kind === 'lines') {
      const { waiting, gaveUp } = await importLines(run, { file, spool, start, only });
      return { waiting: partOf(waiting), gaveUp: partOf(gaveUp) };
    }
    // What a single document refers to and does not hold will not come.
    const whole: ImportRun = run.alone ? { ...run, missingTargets: 'accept' } : run;
    const left = await repeatOnConflict(() => importDocument(whole, { file, spool, range, line: undefined }));
    if (left === undefined) return {};
    const part = { order: left.order };
    return left.state === 'waiting' ? { waiting: part } : { gaveUp: part };
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    if (error.entry === undefined) run.report.unreadable += 1;
    run.report.reject({ file, entry: error.entry ?? null, reason: error.message });
    return {};
  }
}

/** Lines come after documents. */
const LINES_ORDER = 1_000;

function partOf(lines: LineNumbers): Part | undefined {
  return lines.size === 0 ? undefined : { only: lines, order: LINES_ORDER };
}

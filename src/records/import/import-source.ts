/** Imports one source: a Bundle, a single resource, or NDJSON lines of either. */
import { importDocument } from './import-document.ts';
import { importLines } from './import-lines.ts';
import { repeatOnConflict } from './import-transaction.ts';
import type { LineNumbers } from './line-numbers.ts';
import type { ImportRun } from './run-unit.ts';
import { detectLayout } from './source/read-entries.ts';
import { SourceError } from './source/source-error.ts';
import type { Spool } from './source/spool.ts';

/** What of a source could not be done because targets may still come; undefined for nothing. */
export type Waiting = 'whole' | LineNumbers | undefined;

/**
 * Import a source, or of NDJSON only the lines `only`. Everything that is known about it goes to the run's
 * report; what waits for targets is returned instead.
 */
export async function importSource(
  run: ImportRun,
  file: string,
  spool: Spool,
  only?: LineNumbers,
): Promise<Waiting> {
  try {
    const { kind, start } = await detectLayout(spool);
    const range = { start, end: spool.sizeBytes };
    if (kind === 'lines') {
      const waiting = await importLines(run, { file, spool, start, only });
      return waiting.size === 0 ? undefined : waiting;
    }
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

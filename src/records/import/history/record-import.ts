/**
 * Keeps an import while it runs and when it has ended, so that others can watch it (docs/adr/0142).
 * Contract: ADM-46, ADM-47, ADM-48, ADM-49.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { delayAfterFailures } from '../../../outbound/backoff.ts';
import type { Queryable } from '../../../platform/db/database.ts';
import { outageOf } from '../../../platform/db/unavailable.ts';
import { DomainError } from '../../../platform/domain-error.ts';
import type { FacilityScope } from '../../../tenancy/scope.ts';
import { importError } from '../../errors.ts';
import type { ImportDocument } from '../import-report.ts';
import {
  beginImport,
  endImport,
  type ImportEnd,
  type ImportLook,
  type NewImport,
  noteProgress,
} from './import-run.store.ts';
import { keptReport } from './kept-report.ts';

/** How an import that runs is looked at. */
export interface ImportWatch {
  /** Of the files, in their order. */
  names: readonly string[];
  look(): ImportLook;
}

export interface RecordedImport extends NewImport {
  scope: FacilityScope;
}

export interface RecordImportOptions {
  db: Queryable;
  /** What the caller is told of a failure, where that is not the text of a domain error. */
  describe?: (error: unknown) => string | undefined;
  /** Progress is written at most so often. */
  progressEveryMs?: number;
  /** How long it tries to write that the import came to its end. A statement under way is waited for. */
  endWithinMs?: number;
  /** Told of what could not be written down. The import itself goes on. */
  onError?: (error: unknown) => void;
}

const PROGRESS_EVERY_MS = 1_000;
/** Without progress it is said so often that the process is alive. */
const ALIVE_EVERY_MS = 10_000;

/** An import that did not fail is not told as failed because its database was away for some seconds. Its caller waits meanwhile. */
const END_WITHIN_MS = 15_000;
const END_WAIT = { firstMs: 100, maxMs: 2_000 };

const STOPPED =
  'Whoever ran this import stopped it before its end. Import again: what was stored stays, and the rest is added.';

const NOTHING: ImportLook = {
  progress: { files: 0, totalBytes: 0, doneBytes: 0, resources: 0, rejected: 0 },
  content: null,
};

/** Does `work`, which says where to look while it runs. Throws `import_id_used`, and what `work` throws. */
export async function recordImport<Result extends { document: ImportDocument; stopped?: boolean }>(
  options: RecordImportOptions,
  { scope, ...run }: RecordedImport,
  work: (onBegin: (watch: ImportWatch) => void) => Promise<Result>,
): Promise<Result> {
  const { db, describe, progressEveryMs = PROGRESS_EVERY_MS, endWithinMs = END_WITHIN_MS } = options;
  const { onError = () => undefined } = options;
  const begun = await beginImport(db, scope, run);
  if (begun === undefined) throw importError('import_id_used');
  const state: { watch: ImportWatch | undefined } = { watch: undefined };
  const look = () => state.watch?.look() ?? NOTHING;
  const stop = noteWhileRunning(look, {
    everyMs: progressEveryMs,
    note: (now) => noteProgress(db, scope, { id: run.id, begun, ...now }),
    onError,
  });
  const end = async (how: Omit<ImportEnd, keyof ImportLook>, withinMs: number) => {
    await stop();
    const { progress, content } = look();
    // With paths that lead nowhere, which no run looks at.
    const rejected = how.report?.rejectedCount ?? progress.rejected;
    const ended = { ...how, progress: { ...progress, rejected }, content };
    await untilWritten(() => endImport(db, scope, { id: run.id, begun }, ended), withinMs).catch(onError);
  };
  try {
    const result = await work((watch) => {
      state.watch = watch;
    });
    const { document, stopped = false } = result;
    if (stopped) {
      await end({ state: 'failed', failure: STOPPED, report: null }, 0);
      return result;
    }
    const report = keptReport(document, state.watch?.names ?? []);
    const how = {
      state: document.rejectedCount > 0 ? 'rejected' : 'finished',
      failure: null,
      report,
    } as const;
    await end(how, endWithinMs);
    return result;
  } catch (error) {
    const failure = error instanceof DomainError ? error.message : describe?.(error);
    await end({ state: 'failed', failure: failure ?? 'The service failed.', report: null }, 0);
    throw error;
  }
}

/** Again while the database is away: whoever is told that the records are in reads it in the list of imports, too. */
async function untilWritten(write: () => Promise<void>, withinMs: number): Promise<void> {
  const endMs = performance.now() + withinMs;
  for (let failures = 1; ; failures += 1)
    try {
      return await write();
    } catch (error) {
      if (performance.now() >= endMs || outageOf(error) === undefined) throw error;
      await sleep(delayAfterFailures(END_WAIT, failures));
    }
}

/** Returns what stops it, once no statement is under way any more. */
function noteWhileRunning(
  look: () => ImportLook,
  {
    everyMs,
    note,
    onError,
  }: {
    everyMs: number;
    note: (now: ImportLook) => Promise<void>;
    onError: (error: unknown) => void;
  },
): () => Promise<void> {
  let [written, writtenMs] = ['', performance.now()];
  let writing: Promise<void> | undefined;
  const timer = setInterval(() => {
    const now = look();
    const text = JSON.stringify(now);
    const isDue = text !== written || performance.now() - writtenMs >= ALIVE_EVERY_MS;
    if (writing !== undefined || !isDue) return;
    [written, writtenMs] = [text, performance.now()];
    writing = note(now)
      .catch(onError)
      .finally(() => {
        writing = undefined;
      });
  }, everyMs);
  timer.unref();
  return async () => {
    clearInterval(timer);
    await writing;
  };
}

/** The import: any number of sources, one after the other or by several workers. */
import { randomUUID } from 'node:crypto';
import { type Pool, transaction } from '../../platform/db/database.ts';
import type { FacilityScope } from '../../tenancy/scope.ts';
import { createUnmappedRecorder } from '../../terminology/unmapped/record-unmapped.ts';
import { inBatches } from './group/batches.ts';
import type { ImportWatch } from './history/record-import.ts';
import { type ImportDocument, ImportReport } from './import-report.ts';
import type { ImportReach } from './map/record-lookup.ts';
import { patientLookup } from './resolve/lookups.store.ts';
import type { OnPatients, OnPatientsChanged } from './run/import-run.ts';
import { type ImportSource, importSources, type RunOfSources } from './run/import-sources.ts';
import { inDryRun, type RunTransaction } from './run/import-transaction.ts';
import { stoppable, stoppableSource } from './run/stop-import.ts';
import { fileLimits, type SourceLimits } from './source/limits.ts';
import type { DryRun } from './write/dry-run-tables.store.ts';
import { forgetMet } from './write/entry-positions.store.ts';

export interface ImportDependencies {
  db: Pool;
  limits?: SourceLimits;
  /** URLs of modifier extensions and implicit rules that are understood; default none. */
  understoodExtensions?: readonly string[] | undefined;
  /** Called in the transaction of each change of patients, for the exchange's outbox. */
  onPatientsChanged?: OnPatientsChanged;
}

export interface ImportRequest {
  scope: FacilityScope;
  sources: readonly ImportSource[];
  /** Sources that are imported at the same time, each with a connection of its own; default 1. */
  workers?: number;
  /** Do everything, and leave nothing behind. */
  dryRun?: boolean;
  /** Called when it begins. */
  onBegin?: ((watch: ImportWatch) => void) | undefined;
  /** Called when more was read, with the bytes and the sources that are done with by then. */
  onProgress?: (bytes: number, sources: number) => void;
  /** Default `organisation`: patients of other facilities are found by identifier and id, and registered here too. */
  reach?: ImportReach;
  /** For the access log. A dry run tells of those who are stored. */
  onPatients?: OnPatients;
  /** What fails unexpectedly is among the rejected, and the other sources go on. Otherwise it is thrown. */
  keepGoing?: boolean;
  /** Ends it early. The document is about what came to its end by then. */
  stop?: AbortSignal;
}

export interface ImportResult {
  document: ImportDocument;
  /** Sources that could not be read to their end, or are no FHIR JSON at all; they are among the rejected. */
  unreadable: number;
}

export async function importRecords(deps: ImportDependencies, request: ImportRequest): Promise<ImportResult> {
  const report = new ImportReport(() => request.onProgress?.(report.progress().doneBytes, report.doneFiles));
  const { stop } = request;
  const sources = request.sources.map((source) => stoppableSource(source, stop));
  const totalBytes = sources.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  request.onBegin?.({
    names: sources.map(({ name }) => name),
    look: () => ({
      progress: { files: sources.length, totalBytes, ...report.progress() },
      content: report.content(),
    }),
  });
  const unmapped = createUnmappedRecorder({
    db: deps.db,
    now: () => new Date(),
    // Counts that cannot be written are tried again, and lost at the end: the records matter more.
    onError: () => undefined,
  });
  const importAll = async (transaction: RunTransaction, workers: number, dryRun?: DryRun): Promise<void> => {
    const run: RunOfSources = {
      runId: randomUUID(),
      keepGoing: request.keepGoing === true,
      gone: new AbortController(),
      stop,
      scope: request.scope,
      alone: request.sources.length === 1,
      limits: deps.limits ?? fileLimits(),
      transaction: stoppable(transaction, stop),
      report,
      onPatientsChanged: deps.onPatientsChanged,
      reach: request.reach ?? 'organisation',
      understood: new Set(deps.understoodExtensions),
      dryRun,
      onPatients:
        dryRun === undefined ? request.onPatients : ofStored(deps.db, request.scope, request.onPatients),
      unmapped,
    };
    try {
      await importSources(run, sources, workers);
    } finally {
      // What cannot be removed now goes when it is a week old.
      if (dryRun === undefined) await forgetMet(deps.db, request.scope, run.runId).catch(() => undefined);
    }
  };
  try {
    if (request.dryRun === true) {
      await inDryRun(deps.db, request.scope, (transaction, dryRun) => importAll(transaction, 1, dryRun));
    } else {
      await importAll((work) => transaction(deps.db, work), request.workers ?? 1);
      // The database may have gone away meanwhile: the report is worth more than what this takes from its counts.
      await report.notShown.settle(deps.db, request.scope).catch(() => undefined);
    }
  } finally {
    await unmapped.close();
  }
  return { document: report.document(), unreadable: report.unreadable };
}

/** Leaves out the patients that the dry run made itself: nobody has them. */
function ofStored(
  db: Pool,
  scope: FacilityScope,
  onPatients: OnPatients | undefined,
): OnPatients | undefined {
  return (
    onPatients &&
    (async (patientIds) => {
      const { existing, elsewhere } = patientLookup;
      const stored = await inBatches([...patientIds], async (some) => [
        ...(await existing(db, scope, some)),
        ...((await elsewhere?.(db, scope, some)) ?? []),
      ]);
      await onPatients(new Set(stored));
    })
  );
}

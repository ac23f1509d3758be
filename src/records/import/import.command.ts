/** `interchange import`. Contract: IN-1, IN-13, IN-55, CMD-10, ADM-46, ADM-73. */

import { randomUUID } from 'node:crypto';
import { basename, resolve } from 'node:path';
import { Command } from 'commander';
import { type CommandEnvironment, UsageError } from '../../platform/command/command.ts';
import { progressLine } from '../../platform/command/progress-line.ts';
import { hearOneStopSignal, STOP_EXIT_CODES, type StopSignal } from '../../platform/command/stop-signals.ts';
import { type Pool, withPool } from '../../platform/db/database.ts';
import { SERVICE_ROLE } from '../../platform/db/migrate.ts';
import { createLog, errorFields, type Log } from '../../platform/log/log.ts';
import { requireFacility } from '../../tenancy/organisations/facilities.ts';
import type { FacilityScope } from '../../tenancy/scope.ts';
import { recordImport } from './history/record-import.ts';
import { toSourceName } from './history/source-name.ts';
import { type ImportPathsDocument, type ImportPathsRequest, importFound } from './import-paths.ts';
import type { ImportDependencies } from './import-records.ts';
import { importText } from './import-report.ts';
import type { OnPatientsChanged } from './run/import-run.ts';
import { ImportStopped } from './run/stop-import.ts';
import { findFiles } from './source/find-sources.ts';

interface Options {
  organisation: string;
  facility: string;
  workers: number;
  dryRun?: boolean;
}

const MAX_WORKERS = 32;
/** So many files at a time keep one core and the database busy. */
const DEFAULT_WORKERS = 4;

const HELP = `
PATH is a file, a folder (all in it, sorted by name) or - for standard input: FHIR R4 JSON as a Bundle
(transaction, batch, collection, searchset), a single resource, or NDJSON; plain or gzip, told by content.
One Bundle is taken whole or not at all. Files may refer to each other in any order. Importing the same
files again changes nothing. Exit code 1 when anything was rejected. Ctrl-C stops it: what was stored stays.

Examples:
  npx interchange import --organisation 7f0c… --facility 91aa… records/
  gunzip -c export.ndjson.gz | npx interchange import --organisation 7f0c… --facility 91aa… - --json
  npx interchange import --organisation 7f0c… --facility 91aa… --dry-run bundle.json`;

export interface ImportCommandOptions {
  /** Hands changed patients to the exchange's outbox, in the same transaction. */
  onPatientsChanged?: OnPatientsChanged;
  /** URLs of modifier extensions and implicit rules that are understood. */
  understoodExtensions: () => readonly string[];
}

export function importCommand(environment: CommandEnvironment, parts: ImportCommandOptions): Command {
  return new Command('import')
    .description('import FHIR R4 records into one facility')
    .argument('<path...>', 'files, folders, or - for standard input')
    .requiredOption('--organisation <id>', 'organisation')
    .requiredOption('--facility <id>', 'facility that the records belong to')
    .option(
      '--workers <n>',
      'number of files that are imported at the same time',
      workerCount,
      DEFAULT_WORKERS,
    )
    .option('--dry-run', 'check and count everything, and keep nothing')
    .addHelpText('after', HELP)
    .action(async (paths: string[], options: Options) => {
      const { document, stoppedBy } = await environment.withSession(async ({ db: own, adminUrl: url }) => {
        const scope = await placeOf(own, options);
        // One for each worker, and one to tell that the import goes on.
        const max = options.workers + 1;
        const pool = { url, max, applicationName: 'interchange import', role: SERVICE_ROLE };
        return withPool(pool, (db) =>
          untilStopped((stop) => importWithProgress(environment, { db, scope, paths, options, parts, stop })),
        );
      });
      const marked = stoppedBy === undefined ? document : { stopped: true, ...document };
      const text = importText(marked);
      if (options.dryRun !== true) environment.print(marked, text);
      else environment.print({ dryRun: true, ...marked }, `dry run: nothing was kept\n${text}`);
      if (stoppedBy !== undefined)
        environment.fail(
          `${stoppedBy} stopped the import. ${options.dryRun === true ? AFTER_DRY_RUN : AFTER_IMPORT}`,
          STOP_EXIT_CODES[stoppedBy],
        );
      else if (document.rejectedCount > 0)
        environment.fail(`${document.rejectedCount} rejected. The output says which, and why.`);
    });
}

const AFTER_IMPORT =
  'What the output counts is stored, and stays. To import the rest, run the same command again.';
const AFTER_DRY_RUN = 'The output says what it had found by then. Run the same command again.';

/** Ctrl-C and SIGTERM stop the import; the next of them kills this process. */
async function untilStopped(
  work: (stop: AbortSignal) => Promise<ImportPathsDocument>,
): Promise<{ document: ImportPathsDocument; stoppedBy: StopSignal | undefined }> {
  const stop = new AbortController();
  let stoppedBy: StopSignal | undefined;
  const endHearing = hearOneStopSignal((signal) => {
    stoppedBy = signal;
    stop.abort(new ImportStopped(signal));
  });
  try {
    return { document: await work(stop.signal), stoppedBy };
  } finally {
    endHearing();
  }
}

interface Work {
  db: Pool;
  scope: FacilityScope;
  paths: readonly string[];
  options: Options;
  parts: ImportCommandOptions;
  stop: AbortSignal;
}

async function importWithProgress(
  environment: CommandEnvironment,
  { db, scope, paths, options, parts, stop }: Work,
): Promise<ImportPathsDocument> {
  const progress = progressLine(environment);
  const total = { bytes: 0, files: 0 };
  const done = { bytes: 0, files: 0 };
  const show = () => {
    const percent = Math.floor((100 * done.bytes) / Math.max(1, total.bytes));
    progress.show(`importing: ${percent} %, ${done.files} of ${total.files} files`);
  };
  const importing = importAndRecord(
    {
      ...parts,
      db,
      // The command has no log of its own.
      log: createLog('info', environment.stderr),
      understoodExtensions: parts.understoodExtensions(),
    },
    {
      scope,
      paths,
      stdin: environment.stdin,
      workers: options.workers,
      dryRun: options.dryRun === true,
      keepGoing: true,
      stop,
      onFound(bytes, files) {
        Object.assign(total, { bytes, files });
        show();
      },
      onProgress(bytes, files) {
        Object.assign(done, { bytes, files });
        show();
      },
    },
  );
  return importing.finally(progress.end);
}

/** An import that finds nothing to read is not kept. A dry run leaves nothing behind, so it is not kept either. */
async function importAndRecord(
  deps: ImportDependencies & { log: Log },
  request: ImportPathsRequest,
): Promise<ImportPathsDocument> {
  const found = await findFiles(request.paths);
  const findsNothing = found.files.length === 0 && !request.paths.includes('-');
  if (request.dryRun === true || findsNothing) return importFound(deps, request, found);
  const run = {
    id: randomUUID(),
    scope: request.scope,
    way: 'command',
    accountId: null,
    fileName: nameOf(request.paths),
  } as const;
  const onError = (error: unknown) =>
    deps.log.warn(errorFields(error), 'the state of the import could not be written');
  const { document } = await recordImport({ db: deps.db, onError }, run, async (onBegin) => ({
    document: await importFound(deps, { ...request, onBegin }, found),
    stopped: request.stop?.aborted === true,
  }));
  return document;
}

async function placeOf(db: Pool, { organisation, facility }: Options): Promise<FacilityScope> {
  const { id, timeZone } = await requireFacility(db, organisation, facility);
  return { organisationId: organisation.toLowerCase(), facilityId: id, timeZone };
}

function workerCount(text: string): number {
  const count = Number(text);
  if (!/^\d+$/.test(text) || count < 1 || count > MAX_WORKERS)
    throw new UsageError(`--workers must be a number from 1 to ${MAX_WORKERS}, for example --workers 4.`);
  return count;
}

/** The last part of the path, where there is one path. Several have no name, nor has standard input. */
function nameOf(paths: readonly string[]): string | null {
  const [path] = paths;
  if (path === undefined || paths.length > 1 || path === '-') return null;
  return toSourceName(basename(resolve(path))) ?? null;
}

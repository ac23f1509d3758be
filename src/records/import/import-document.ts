/** Imports one JSON document: a Bundle, or a single resource. */
import { indexBundle, singleUnit } from './index-source.ts';
import { type JsonObject, ResourceRejected } from './json-resource.ts';
import { type ImportRun, type Rejected, runUnit, wholeDocument } from './run-unit.ts';
import type { Spool } from './source/spool.ts';

/** Reasons that are listed for one Bundle at most. */
const REASONS = 20;

export interface DocumentPlace {
  file: string;
  spool: Spool;
  range: { start: number; end: number };
  /** Number of the line that holds the document; undefined for a whole file. */
  line: number | undefined;
}

/** True when it waits for targets. */
export async function importDocument(run: ImportRun, place: DocumentPlace): Promise<boolean> {
  const indexed = await indexBundle(place.spool, place.range, run);
  if (indexed.kind === 'resource') return importSingle(run, place, indexed.resource);
  for (const { entry, resourceType, reason } of indexed.rejected)
    reject(run, place, { entry, ...(resourceType === undefined ? {} : { resourceType }), reason });
  if (indexed.rejected.length > 0) return false;
  const { unit } = indexed;
  const resourceOf = (entry: unknown) => (entry as { resource: JsonObject }).resource;
  const result = await runUnit(run, { unit, spool: place.spool, resourceOf, maxReasons: REASONS });
  if (result.kind === 'waiting') return true;
  if (result.kind === 'done') {
    run.report.bundles += 1;
    run.report.addNotTaken(unit.notTaken);
  } else for (const rejection of result.rejected) reject(run, place, rejection);
  return false;
}

async function importSingle(run: ImportRun, place: DocumentPlace, resource: JsonObject): Promise<boolean> {
  const unit = rejecting(run, place, () =>
    singleUnit(resource, { number: place.line ?? 1, ...place.range }, run),
  );
  if (unit === undefined) return false;
  const part = { unit, spool: place.spool, resourceOf: wholeDocument, maxReasons: 1 };
  const result = await runUnit(run, part);
  if (result.kind === 'rejected') for (const rejection of result.rejected) reject(run, place, rejection);
  else if (result.kind === 'done') run.report.addNotTaken(unit.notTaken);
  return result.kind === 'waiting';
}

/** Add to the report; a line keeps its own number. */
export function reject(run: ImportRun, { file, line }: DocumentPlace, rejection: Rejected): void {
  if (line === undefined) run.report.reject({ file, ...rejection });
  else {
    const where = rejection.entry === null ? '' : `entry ${rejection.entry} of the Bundle: `;
    run.report.reject({ file, ...rejection, entry: line, reason: `${where}${rejection.reason}` });
  }
}

function rejecting<T>(run: ImportRun, place: DocumentPlace, work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof ResourceRejected)) throw error;
    reject(run, place, { entry: place.line ?? 1, reason: error.message });
    return undefined;
  }
}

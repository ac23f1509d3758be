/** Imports one JSON document: a Bundle, or a single resource. */

import { type JsonObject, ResourceRejected } from '../../../fhir/reading/json-resource.ts';
import { indexBundle, singleUnit } from '../resolve/index-source.ts';
import type { Spool } from '../source/spool.ts';
import type { ImportRun } from './import-run.ts';
import { wholeDocument } from './import-unit.ts';
import { type Rejected, runUnit, type UnitPart } from './run-unit.ts';

/** Reasons that are listed for one Bundle at most. */
const REASONS = 20;

export interface DocumentPlace {
  file: string;
  spool: Spool;
  range: { start: number; end: number };
  /** Number of the line that holds the document; undefined for a whole file. */
  line: number | undefined;
}

/** What became of a document that was not simply taken or rejected (`import-sources.ts`). */
export type DocumentLeft = 'waiting' | 'gave up';

/** Undefined when it is done with. */
export async function importDocument(
  run: ImportRun,
  place: DocumentPlace,
): Promise<DocumentLeft | undefined> {
  const indexed = await indexBundle(place.spool, place.range, run);
  if (place.line === undefined) run.report.contents.add(indexed.kind);
  if (indexed.kind === 'resource') return importSingle(run, place, indexed);
  for (const { entry, resourceType, reason } of indexed.rejected)
    reject(run, place, { entry, ...(resourceType === undefined ? {} : { resourceType }), reason });
  if (indexed.rejected.length > 0) return undefined;
  const resourceOf = (entry: unknown) => (entry as { resource: JsonObject }).resource;
  const { left, done } = await importWhole(run, place, { unit: indexed.unit, resourceOf });
  if (done && !run.again) run.report.bundles += 1;
  return left;
}

async function importSingle(
  run: ImportRun,
  place: DocumentPlace,
  document: { resource: JsonObject; text: string },
): Promise<DocumentLeft | undefined> {
  const unit = rejecting(run, place, () => singleUnit(document, { number: place.line ?? 1, ...place.range }));
  if (unit === undefined) return undefined;
  return (await importWhole(run, place, { unit, resourceOf: wholeDocument })).left;
}

async function importWhole(
  run: ImportRun,
  place: DocumentPlace,
  { unit, resourceOf }: Pick<UnitPart, 'unit' | 'resourceOf'>,
): Promise<{ left: DocumentLeft | undefined; done: boolean }> {
  const { file, spool } = place;
  const result = await runUnit(run, { unit, spool, resourceOf, file, maxReasons: REASONS });
  if (result.kind === 'waiting') return { left: 'waiting', done: false };
  if (result.kind === 'rejected') {
    for (const rejection of result.rejected) reject(run, place, rejection);
    return { left: undefined, done: false };
  }
  if (!run.again) run.report.addNotTaken(unit.notTaken);
  return { left: result.gaveUp.length > 0 ? 'gave up' : undefined, done: true };
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

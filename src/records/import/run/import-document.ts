/** Imports one JSON document: a Bundle, or a single resource. */

import { indexDocument } from '../resolve/index-source.ts';
import type { Spool } from '../source/spool.ts';
import type { ImportRun } from './import-run.ts';
import { type Rejected, runUnit } from './run-unit.ts';

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
  const { unit, rejected } = await indexDocument(place.spool, place.range, run);
  if (place.line === undefined) run.report.contents.add(unit.isBundle ? 'bundle' : 'resource');
  const result =
    rejected.length > 0 ? ({ kind: 'rejected', rejected } as const) : await runUnit(run, { ...place, unit });
  if (result.kind === 'waiting') return 'waiting';
  if (result.kind === 'refused') {
    reject(run, place, { entry: null, reason: `A resource ${result.reason}` });
    return undefined;
  }
  if (result.kind === 'rejected') {
    for (const rejection of result.rejected) reject(run, place, rejection);
    return undefined;
  }
  if (!run.again) {
    run.report.addNotTaken(unit.notTaken);
    if (unit.isBundle) run.report.bundles += 1;
  }
  return result.gaveUp.length > 0 ? 'gave up' : undefined;
}

/** Add to the report; a line keeps its own number. */
export function reject(run: ImportRun, { file, line }: DocumentPlace, rejection: Rejected): void {
  if (line === undefined) run.report.reject({ file, ...rejection });
  else {
    const where = rejection.entry === null ? '' : `entry ${rejection.entry} of the Bundle: `;
    run.report.reject({ file, ...rejection, entry: line, reason: `${where}${rejection.reason}` });
  }
}

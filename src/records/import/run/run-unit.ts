/** Runs one unit in its transaction, and tells what became of it. Contract: IN-12, IN-27. */

import { type Span, traced } from '../../../platform/trace/trace.ts';
import type { Rejection } from '../import-report.ts';
import { joinMissed, joinWaiting } from '../wait/join-waiting.ts';
import { announce, type ImportRun } from './import-run.ts';
import { dataFault } from './import-transaction.ts';
import { importUnit, type UnitOutcome } from './import-unit.ts';
import { sharingSince } from './sharing-since.ts';
import type { UnitRequest } from './unit.ts';

/** As it is reported, but for the file. */
export type Rejected = Omit<Rejection, 'file'>;
export type UnitResult =
  /** `gaveUp`: numbers of the entries to be taken again once everything else is there. */
  | { kind: 'done'; gaveUp: readonly number[] }
  | { kind: 'waiting'; waiting: readonly number[] }
  | { kind: 'rejected'; rejected: Rejected[] }
  /** The database refused the data, and did not say which resource. */
  | { kind: 'refused'; reason: string };

export type UnitPart = Pick<UnitRequest, 'unit' | 'spool'> & {
  /** How the source is named in the report. */
  file: string;
};

export async function runUnit(run: ImportRun, part: UnitPart): Promise<UnitResult> {
  const entries = part.unit.entries.length;
  if (entries === 0) return { kind: 'done', gaveUp: [] };
  const span: Span = {
    name: 'import unit',
    kind: 'internal',
    attributes: { 'interchange.entries': entries, 'interchange.dry_run': run.dryRun !== undefined },
  };
  return traced(span, async () => {
    const result = await takeUnit(run, part);
    span.attributes['interchange.outcome'] = result.kind;
    return result;
  });
}

async function takeUnit(run: ImportRun, part: UnitPart): Promise<UnitResult> {
  const { dryRun } = run;
  try {
    const outcome = await run.transaction(async (client) => {
      const written = await importUnit(client, { ...run, ...part });
      if (written.rejected.length > 0 || written.waiting.length > 0) throw new UnitStopped(written);
      await announce(run, client, written);
      return written;
    });
    const gaveUp = outcome.gaveUp ? outcome.unresolvedIn : [];
    // What was left out is counted when it is taken once more.
    if (gaveUp.length === 0) run.report.addUnresolved(outcome.unresolved, part.file);
    if (run.again) return { kind: 'done', gaveUp: [] };
    run.report.add(outcome, part.file);
    // First: what follows may be stopped, and the same content is not counted again.
    if (dryRun === undefined)
      for (const { place, coding } of outcome.unmapped) run.unmapped.met(run.scope, place, [coding]);
    run.report.addNotices(await joinWaiting(run, part.unit), part.file);
    // Nothing comes meanwhile.
    if (dryRun !== undefined) return { kind: 'done', gaveUp };
    run.report.addNotices(await sharingSince(run, part.unit, outcome), part.file);
    run.report.addNotices(await joinMissed(run, outcome), part.file);
    return { kind: 'done', gaveUp };
  } catch (error) {
    if (error instanceof UnitStopped) return stoppedResult(error.outcome);
    const reason = dataFault(error);
    if (reason === undefined) throw error;
    return { kind: 'refused', reason };
  }
}

/** Carries the outcome out of the transaction that it rolls back. */
class UnitStopped extends Error {
  override name = 'UnitStopped';
  readonly outcome: UnitOutcome;

  constructor(outcome: UnitOutcome) {
    super('The unit was not taken');
    this.outcome = outcome;
  }
}

function stoppedResult({ rejected, waiting }: UnitOutcome): UnitResult {
  if (rejected.length === 0) return { kind: 'waiting', waiting };
  return {
    kind: 'rejected',
    rejected: rejected.map(({ entry, reason }) => ({
      entry: entry.number,
      resourceType: entry.target.type,
      reason,
    })),
  };
}

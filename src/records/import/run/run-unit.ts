/** Runs one unit in its transaction, and tells what became of it. Contract: IN-12, IN-27. */

import type { JsonObject } from '../../../fhir/reading/json-resource.ts';
import type { Client } from '../../../platform/db/database.ts';
import type { FacilityScope } from '../../../tenancy/scope.ts';
import type { UnmappedRecorder } from '../../../terminology/unmapped/record-unmapped.ts';
import type { ImportReport } from '../import-report.ts';
import type { Reach } from '../map/resource-importer.ts';
import type { SourceLimits } from '../source/limits.ts';
import { dataFault, type RunTransaction } from './import-transaction.ts';
import { importUnit, type UnitOutcome, type UnitRequest } from './import-unit.ts';

export interface PatientChange {
  patientId: string;
  event: 'created' | 'updated';
}

/** Called inside the transaction that changed the patients. */
export type OnPatientsChanged = (
  client: Client,
  scope: FacilityScope,
  changed: readonly PatientChange[],
) => Promise<void>;

/** Awaited with the patients that a transaction is about, before it commits; rolls it back when it rejects. */
export type OnPatients = (patientIds: ReadonlySet<string>) => Promise<void>;

export interface ImportRun {
  scope: FacilityScope;
  limits: SourceLimits;
  transaction: RunTransaction;
  /** True while targets that are not there may come with what is imported later. */
  moreToCome: boolean;
  /** True when units are taken again because they left targets out that may have come: they are counted already. */
  again: boolean;
  /** True when there is no other source. */
  alone: boolean;
  report: ImportReport;
  onPatientsChanged: OnPatientsChanged | undefined;
  reach: Reach;
  /** URLs of modifier extensions and implicit rules that are understood. */
  understood: ReadonlySet<string>;
  /** True when nothing is kept, and nobody told. */
  dryRun: boolean;
  onPatients: OnPatients | undefined;
  /** Counts local codes of what was committed. */
  unmapped: UnmappedRecorder;
}

export type Rejected = { entry: number | null; resourceType?: string; reason: string };
export type UnitResult =
  /** `gaveUp`: numbers of the entries to be taken again once everything else is there. */
  | { kind: 'done'; gaveUp: readonly number[] }
  | { kind: 'waiting'; waiting: readonly number[] }
  | { kind: 'rejected'; rejected: Rejected[] }
  /** The database refused the data, and did not say which resource. */
  | { kind: 'refused'; reason: string };

export type UnitPart = Pick<UnitRequest, 'unit' | 'spool' | 'resourceOf' | 'maxReasons'> & {
  /** How the source is named in the report. */
  file: string;
};

/** A refusal of the whole unit is a rejection of it. */
export async function runUnit(
  run: ImportRun,
  part: UnitPart,
): Promise<Exclude<UnitResult, { kind: 'refused' }>> {
  const result = await tryUnit(run, part);
  if (result.kind !== 'refused') return result;
  return { kind: 'rejected', rejected: [{ entry: null, reason: `A resource ${result.reason}` }] };
}

export async function tryUnit(run: ImportRun, part: UnitPart): Promise<UnitResult> {
  const { scope, reach, dryRun, moreToCome, understood } = run;
  if (part.unit.entries.length === 0) return { kind: 'done', gaveUp: [] };
  try {
    const outcome = await run.transaction(async (client) => {
      const written = await importUnit(client, { scope, reach, dryRun, moreToCome, understood, ...part });
      if (written.rejected.length > 0 || written.waiting.length > 0) throw new UnitStopped(written);
      if (dryRun) return written;
      await announce(run, client, written);
      await run.onPatients?.(written.patientsTouched);
      return written;
    });
    const gaveUp = outcome.gaveUp ? outcome.unresolvedIn : [];
    // What was left out is counted when it was tried again.
    if (gaveUp.length === 0) run.report.addUnresolved(outcome.unresolved, part.file);
    if (run.again) return { kind: 'done', gaveUp: [] };
    run.report.add(outcome, part.file);
    if (!dryRun) for (const { place, coding } of outcome.unmapped) run.unmapped.met(scope, place, [coding]);
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

async function announce(run: ImportRun, client: Client, outcome: UnitOutcome): Promise<void> {
  const created = [...outcome.patientsCreated];
  const updated = [...outcome.patientsUpdated].filter((id) => !outcome.patientsCreated.has(id));
  const changed: PatientChange[] = [
    ...created.map((patientId) => ({ patientId, event: 'created' as const })),
    ...updated.map((patientId) => ({ patientId, event: 'updated' as const })),
  ];
  if (changed.length > 0) await run.onPatientsChanged?.(client, run.scope, changed);
}

/** Of a document that is the resource itself. */
export function wholeDocument(parsed: unknown): JsonObject {
  return parsed as JsonObject;
}

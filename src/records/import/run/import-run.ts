/** One import: what all of its units share, and whom it tells of what changed. */
import type { PatientChange } from '../../../patients/patient.ts';
import type { Client } from '../../../platform/db/database.ts';
import type { FacilityScope } from '../../../tenancy/scope.ts';
import type { UnmappedRecorder } from '../../../terminology/unmapped/record-unmapped.ts';
import type { ImportReport } from '../import-report.ts';
import type { SourceLimits } from '../source/limits.ts';
import type { RunTransaction } from './import-transaction.ts';
import type { UnitOutcome } from './import-unit.ts';
import type { UnitRun } from './unit.ts';

/** Called inside the transaction that changed the patients. */
export type OnPatientsChanged = (
  client: Client,
  scope: FacilityScope,
  changed: readonly PatientChange[],
) => Promise<unknown>;

/** Awaited with the patients that a transaction is about, before it commits; rolls it back when it rejects. */
export type OnPatients = (patientIds: ReadonlySet<string>) => Promise<void>;

export interface ImportRun extends UnitRun {
  limits: SourceLimits;
  transaction: RunTransaction;
  /** True when there is no other source. */
  alone: boolean;
  report: ImportReport;
  onPatientsChanged: OnPatientsChanged | undefined;
  onPatients: OnPatients | undefined;
  /** Counts local codes of what was committed. */
  unmapped: UnmappedRecorder;
}

/** Tell of the patients that a transaction is about, before it commits. A dry run changes nobody. */
export async function announce(run: ImportRun, client: Client, outcome: UnitOutcome): Promise<void> {
  const { patientsCreated, patientsUpdated, patientsRegistered } = outcome;
  const created = [...patientsCreated];
  const updated = [...patientsUpdated.union(patientsRegistered).difference(patientsCreated)];
  const changed: PatientChange[] = [
    ...created.map((patientId) => ({ patientId, event: 'created' as const })),
    ...updated.map((patientId) => ({ patientId, event: 'updated' as const })),
  ];
  if (changed.length > 0 && run.dryRun === undefined)
    await run.onPatientsChanged?.(client, run.scope, changed);
  await run.onPatients?.(outcome.patientsTouched);
}

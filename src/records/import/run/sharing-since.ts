/**
 * Names patients of a facility who have the same identifier. Two imports, or two workers of one, do not see each other's
 * patients before they commit. So each looks again then, and one of them finds the other's. Contract: IN-36.
 */
import { SHARED_IDENTIFIER, sharingIdentifiers } from '../resolve/patient-identity.ts';
import type { ImportRun } from './import-run.ts';
import { faultText } from './import-transaction.ts';
import type { UnitOutcome } from './import-unit.ts';
import { ImportStopped } from './stop-import.ts';
import type { EntryReason, Unit } from './unit.ts';

/** Of the patients that the unit, which is committed, has written: those who share an identifier, and are not named yet. */
export async function sharingSince(
  run: Pick<ImportRun, 'scope' | 'transaction'>,
  { entries }: Unit,
  { patientsCreated, patientsUpdated, notices }: UnitOutcome,
): Promise<EntryReason[]> {
  const named = new Set(notices.flatMap(({ entry, reason }) => (reason === SHARED_IDENTIFIER ? entry : [])));
  const written = patientsCreated.union(patientsUpdated);
  const open = entries.filter(
    (entry) => entry.target.type === 'Patient' && written.has(entry.target.id) && !named.has(entry),
  );
  if (open.length === 0) return [];
  const ids = open.map(({ target }) => target.id);
  try {
    const sharing = new Set(
      await run.transaction((client) =>
        sharingIdentifiers({ client, scope: run.scope, dryRun: undefined }, ids),
      ),
    );
    return open.flatMap((entry) =>
      sharing.has(entry.target.id) ? { entry, reason: SHARED_IDENTIFIER } : [],
    );
  } catch (error) {
    if (error instanceof ImportStopped) throw error;
    const reason = `was taken, but the service could not check whether another patient has the same identifier (${faultText(error)}). The same holds for the other patients of its file`;
    return open.slice(0, 1).map((entry) => ({ entry, reason }));
  }
}

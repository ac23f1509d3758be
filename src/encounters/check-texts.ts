/**
 * Compares the kept texts of all encounters of an organisation with their columns, which are the truth, and renews those
 * that are missing or differ (docs/adr/0120).
 */
import type { Queryable } from '../platform/db/database.ts';
import { ENCOUNTER_MAPPING } from './encounter.fhir.ts';
import { type EncounterPlace, elementsOf, encountersAfter, rendered } from './encounter.store.ts';

/** What a walk over the kept texts of some records found. */
export interface TextCheck {
  records: number;
  /** Records without a text that counts: the next read renders them. */
  missing: number;
  /** Ids of records whose text is not what their columns say. */
  different: string[];
}

const LIMIT = 1_000;
const BEFORE_ALL: EncounterPlace = {
  facilityId: '00000000-0000-0000-0000-000000000000',
  id: '00000000-0000-0000-0000-000000000000',
};

/** With `renew`, each record has the right text afterwards, but for those that are being changed. */
export async function checkEncounterTexts(
  db: Queryable,
  organisationId: string,
  { renew = false, mapping = ENCOUNTER_MAPPING }: { renew?: boolean; mapping?: number } = {},
): Promise<TextCheck> {
  const rendering = { organisationId, mapping };
  const found: TextCheck = { records: 0, missing: 0, different: [] };
  for (let after: EncounterPlace | undefined = BEFORE_ALL; after !== undefined; ) {
    const rows = await encountersAfter(db, rendering, { after, limit: LIMIT });
    const missing = rows.filter(({ elements }) => elements === null);
    const different = rows.filter(
      (row) => row.elements !== null && row.elements !== elementsOf(row, organisationId),
    );
    found.records += rows.length;
    found.missing += missing.length;
    found.different.push(...different.map(({ id }) => id));
    if (renew)
      await rendered(db, rendering, [...missing, ...different.map((row) => ({ ...row, elements: null }))]);
    after = rows.length < LIMIT ? undefined : rows.at(-1);
  }
  return found;
}

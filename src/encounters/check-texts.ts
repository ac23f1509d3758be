/** Compares the kept texts of all encounters of an organisation with their columns (docs/adr/0120). */
import { checkTexts, type TextCheck } from '../clinical/kept/check-texts.ts';
import type { Queryable } from '../platform/db/database.ts';
import { ENCOUNTER_MAPPING } from './encounter.fhir.ts';
import { ENCOUNTER_TEXTS } from './encounter.store.ts';

export function checkEncounterTexts(
  db: Queryable,
  organisationId: string,
  { renew = false, mapping = ENCOUNTER_MAPPING }: { renew?: boolean; mapping?: number } = {},
): Promise<TextCheck> {
  return checkTexts(db, ENCOUNTER_TEXTS, { organisationId, mapping, renew });
}

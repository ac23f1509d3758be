/** Compares the kept texts of all patients of an organisation with their columns (docs/adr/0117). */
import { checkTexts, type TextCheck } from '../../clinical/kept/check-texts.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { PATIENT_TEXTS } from './patient-texts.store.ts';
import { PATIENT_MAPPING } from './summary-text.fhir.ts';

export function checkPatientTexts(
  db: Queryable,
  organisationId: string,
  { renew = false, mapping = PATIENT_MAPPING }: { renew?: boolean; mapping?: number } = {},
): Promise<TextCheck> {
  return checkTexts(db, PATIENT_TEXTS, { organisationId, mapping, renew });
}

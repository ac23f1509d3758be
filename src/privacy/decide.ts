/** Whether a patient's privacy setting lets a purpose through. Contract: LOG-3. */

import type { PurposeOfUse } from '../fhir/purpose-of-use.ts';

export function allowsPurpose(refusedPurposes: readonly string[], purpose: PurposeOfUse): boolean {
  return !refusedPurposes.includes(purpose);
}

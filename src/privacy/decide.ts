/** Whether a patient's privacy setting lets a purpose through. Contract: LOG-3. */

import type { PurposeOfUse } from '../fhir/purpose-of-use.ts';
import { forbidden, type HttpError } from '../platform/http/errors.ts';

export function allowsPurpose(refusedPurposes: readonly string[], purpose: PurposeOfUse): boolean {
  return !refusedPurposes.includes(purpose);
}

/** The 403 for a refused purpose. */
export function purposeRefused(): HttpError {
  return forbidden(
    'The privacy setting of the patient refuses this purpose of use. Do not try again with the same purpose.',
    'purpose_refused',
  );
}

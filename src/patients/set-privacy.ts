/** Change the purposes of use that a patient refuses (specification, "Purpose of use"; design section 4). */
import type { Queryable } from '../platform/db/database.ts';
import { notFound } from '../platform/http/errors.ts';
import type { AccessLog } from '../privacy/access-log.ts';
import { accessEntry, type Reader } from '../privacy/authorise-access.ts';
import { PURPOSES_OF_USE, type PurposeOfUse } from '../privacy/purpose-of-use.ts';
import { isUuid } from '../tenancy/check-access.ts';
import { replaceRefusedPurposes } from './privacy.store.ts';

export interface PrivacySetting {
  /** In the order of the specification, each once. */
  refusedPurposes: PurposeOfUse[];
}

/**
 * The setting holds for the next call on every node: it is read with each record. The change is entered in
 * the patient's access log. 404 for a patient outside the scope.
 */
export async function setPrivacy(
  { db, accessLog }: { db: Queryable; accessLog: AccessLog },
  { patientId, refusedPurposes }: { patientId: string; refusedPurposes: readonly string[] },
  reader: Reader,
): Promise<PrivacySetting> {
  if (!isUuid(patientId)) throw notFound('The patient');
  const refused = PURPOSES_OF_USE.filter((purpose) => refusedPurposes.includes(purpose));
  const id = patientId.toLowerCase();
  const changed = await replaceRefusedPurposes(db, reader.scope, { patientId: id, refusedPurposes: refused });
  if (!changed) throw notFound('The patient');
  const record = { patientId: id, action: 'patient.privacy-change', resourceType: 'Patient', resourceId: id };
  await accessLog.record([accessEntry(reader, record, 'allowed')]);
  return { refusedPurposes: refused };
}

/** Read and change the purposes of use that a patient refuses. Contract: LOG-3, LOG-6, ADM-34, ADM-40. */

import { DEFAULT_PURPOSE_OF_USE, PURPOSES_OF_USE, type PurposeOfUse } from '../fhir/purpose-of-use.ts';
import { type Pool, transaction } from '../platform/db/database.ts';
import { isUuid } from '../platform/uuid.ts';
import { type AccessAction, type AccessLog, OPERATOR_ACCOUNT_ID } from '../privacy/access-log/access-log.ts';
import { accessEntry, type Reader } from '../privacy/authorise-access.ts';
import { findRefusedPurposes, replaceRefusedPurposes } from '../privacy/refused-purposes.store.ts';
import { requireStillHeld } from '../tenancy/administration/administer.ts';
import { authorOf, OPERATOR } from '../tenancy/administration/author.ts';
import { recordChange } from '../tenancy/audit/audit.ts';
import { notFound } from '../tenancy/errors.ts';

/** Who reads or changes it, and where. */
type PrivacyAuthor = Omit<Reader, 'purposeOfUse'>;

export interface PrivacySetting {
  /** In the order of the four purposes, each once. */
  refusedPurposes: PurposeOfUse[];
}

/**
 * The setting holds for the next call on every node: it is read with each record. It is changed only once the
 * change is in the patient's access log. 404 for a patient outside the scope.
 */
export async function setPrivacy(
  { db, accessLog }: { db: Pool; accessLog: AccessLog },
  { patientId, refusedPurposes }: { patientId: string; refusedPurposes: readonly string[] },
  author: PrivacyAuthor,
): Promise<PrivacySetting> {
  if (!isUuid(patientId)) throw notFound('The patient');
  const refused = PURPOSES_OF_USE.filter((purpose) => refusedPurposes.includes(purpose));
  const id = patientId.toLowerCase();
  await transaction(db, async (client) => {
    const setting = { patientId: id, refusedPurposes: refused };
    const { scope, caller } = author;
    const standing = await replaceRefusedPurposes(client, scope, setting);
    if (standing === undefined) throw notFound('The patient');
    const by = caller.accountId === OPERATOR_ACCOUNT_ID ? OPERATOR : authorOf(author);
    await requireStillHeld(client, scope, {
      author: by,
      permission: 'patients.privacy.manage',
      facilityIds: [scope.facilityId],
      module: { name: 'patients', facilityId: scope.facilityId },
    });
    await recordChange(client, scope, by, {
      action: 'patient.privacy',
      subject: { type: 'patient', id },
      facilityIds: [scope.facilityId],
      before: { refusedPurposes: standing },
      after: { refusedPurposes: refused },
    });
    await record(accessLog, author, { patientId: id, action: 'patient.privacy-change' });
  });
  return { refusedPurposes: refused };
}

/**
 * The setting itself is shown whatever purpose is refused: who may change it has to see it. The reading is in the
 * patient's access log. 404 for a patient outside the scope.
 */
export async function readPrivacy(
  { db, accessLog }: { db: Pool; accessLog: AccessLog },
  patientId: string,
  author: PrivacyAuthor,
): Promise<PrivacySetting> {
  const id = patientId.toLowerCase();
  const found = isUuid(id) ? await findRefusedPurposes(db, author.scope, id) : undefined;
  if (found === undefined) throw notFound('The patient');
  await record(accessLog, author, { patientId: id, action: 'patient.privacy-read' });
  return { refusedPurposes: PURPOSES_OF_USE.filter((purpose) => found.includes(purpose)) };
}

async function record(
  accessLog: AccessLog,
  author: PrivacyAuthor,
  { patientId, action }: { patientId: string; action: AccessAction },
): Promise<void> {
  const reader = { ...author, purposeOfUse: DEFAULT_PURPOSE_OF_USE };
  const read = { patientId, action, resourceType: 'Patient', resourceId: patientId };
  await accessLog.record([accessEntry(reader, read, 'allowed')]);
}

/** Change the purposes of use that a patient refuses. Contract: LOG-3, LOG-6. */

import { DEFAULT_PURPOSE_OF_USE, PURPOSES_OF_USE, type PurposeOfUse } from '../fhir/purpose-of-use.ts';
import { type Pool, transaction } from '../platform/db/database.ts';
import { isUuid } from '../platform/uuid.ts';
import type { AccessLog } from '../privacy/access-log/access-log.ts';
import { notFound } from '../tenancy/errors.ts';
import { replaceRefusedPurposes } from './privacy.store.ts';

/** Who changes it, and where. */
export interface AccessAuthor {
  organisationId: string;
  facilityId: string;
  accountId: string;
  correlationId: string;
}

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
  author: AccessAuthor,
): Promise<PrivacySetting> {
  if (!isUuid(patientId)) throw notFound('The patient');
  const refused = PURPOSES_OF_USE.filter((purpose) => refusedPurposes.includes(purpose));
  const id = patientId.toLowerCase();
  await transaction(db, async (client) => {
    const setting = { patientId: id, refusedPurposes: refused };
    if (!(await replaceRefusedPurposes(client, author, setting))) throw notFound('The patient');
    await accessLog.record([
      {
        organisationId: author.organisationId,
        facilityId: author.facilityId,
        accountId: author.accountId,
        correlationId: author.correlationId,
        patientId: id,
        action: 'patient.privacy-change',
        resourceType: 'Patient',
        resourceId: id,
        purposeOfUse: DEFAULT_PURPOSE_OF_USE,
        outcome: 'allowed',
      },
    ]);
  });
  return { refusedPurposes: refused };
}

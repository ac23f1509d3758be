/** Read and change the purposes of use that a patient refuses. Contract: LOG-3, LOG-6, ADM-34, ADM-40. */

import { DEFAULT_PURPOSE_OF_USE, PURPOSES_OF_USE, type PurposeOfUse } from '../fhir/purpose-of-use.ts';
import { type Pool, transaction } from '../platform/db/database.ts';
import { isUuid } from '../platform/uuid.ts';
import {
  type AccessAction,
  type AccessEntry,
  type AccessLog,
  OPERATOR_ACCOUNT_ID,
} from '../privacy/access-log/access-log.ts';
import { type Author, OPERATOR } from '../tenancy/administration/author.ts';
import { recordChange } from '../tenancy/audit/audit.ts';
import { notFound } from '../tenancy/errors.ts';
import { findRefusedPurposes, replaceRefusedPurposes } from './privacy.store.ts';

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
    const standing = await replaceRefusedPurposes(client, author, setting);
    if (standing === undefined) throw notFound('The patient');
    const { accountId, correlationId, facilityId } = author;
    const by: Author =
      accountId === OPERATOR_ACCOUNT_ID ? OPERATOR : { kind: 'account', accountId, correlationId };
    await recordChange(client, author, by, {
      action: 'patient.privacy',
      subject: { type: 'patient', id },
      facilityIds: [facilityId],
      before: { refusedPurposes: standing },
      after: { refusedPurposes: refused },
    });
    await accessLog.record([entryOf(author, id, 'patient.privacy-change')]);
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
  author: AccessAuthor,
): Promise<PrivacySetting> {
  const id = patientId.toLowerCase();
  const found = isUuid(id) ? await findRefusedPurposes(db, author, id) : undefined;
  if (found === undefined) throw notFound('The patient');
  await accessLog.record([entryOf(author, id, 'patient.privacy-read')]);
  return { refusedPurposes: PURPOSES_OF_USE.filter((purpose) => found.includes(purpose)) };
}

function entryOf(author: AccessAuthor, patientId: string, action: AccessAction): AccessEntry {
  return {
    organisationId: author.organisationId,
    facilityId: author.facilityId,
    accountId: author.accountId,
    correlationId: author.correlationId,
    patientId,
    action,
    resourceType: 'Patient',
    resourceId: patientId,
    purposeOfUse: DEFAULT_PURPOSE_OF_USE,
    outcome: 'allowed',
  };
}

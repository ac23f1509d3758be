/**
 * The last two steps before patient data is released: the privacy decision and its trace.
 * Contract: LOG-4, LOG-5, LOG-7.
 */

import type { PurposeOfUse } from '../fhir/purpose-of-use.ts';
import type { ListDependencies } from '../platform/http/paging.ts';
import type { AccessAction, AccessEntry, AccessLog } from './access-log/access-log.ts';
import { allowsPurpose } from './decide.ts';
import { privacyError } from './errors.ts';

/** Who reads, where and why; the context of a facility route is one. */
export interface Reader {
  readonly scope: { readonly organisationId: string; readonly facilityId: string };
  readonly caller: { readonly accountId: string };
  readonly purposeOfUse: PurposeOfUse;
  readonly correlationId: string;
}

/** What a list by page works with that names patients. */
export interface TracedListDependencies extends ListDependencies {
  accessLog: AccessLog;
}

/** What is read, of whom. */
export interface ReadRecord {
  patientId: string;
  action: AccessAction;
  resourceType: string;
  resourceId: string | null;
}

/**
 * Resolves when the data of one patient may be released: the purpose is allowed and the entry is durable.
 * Throws for a refused purpose, once the refusal is durable.
 */
export async function authoriseAccess(
  accessLog: AccessLog,
  reader: Reader,
  { refusedPurposes, ...record }: ReadRecord & { refusedPurposes: readonly string[] },
): Promise<void> {
  const allowed = allowsPurpose(refusedPurposes, reader.purposeOfUse);
  await accessLog.record([accessEntry(reader, record, allowed ? 'allowed' : 'refused')]);
  if (!allowed) throw privacyError('purpose_refused');
}

export function accessEntry(
  reader: Reader,
  record: ReadRecord,
  outcome: AccessEntry['outcome'],
): AccessEntry {
  return {
    organisationId: reader.scope.organisationId,
    facilityId: reader.scope.facilityId,
    accountId: reader.caller.accountId,
    purposeOfUse: reader.purposeOfUse,
    correlationId: reader.correlationId,
    patientId: record.patientId,
    action: record.action,
    resourceType: record.resourceType,
    resourceId: record.resourceId,
    outcome,
  };
}

/**
 * The record of changes says which purposes a patient refuses. Who is shown that has read it: the access log of the patient
 * has an entry, as for a read of the setting itself.
 * Contract: LOG-7, ADM-34.
 */
import { randomUUID } from 'node:crypto';
import { DEFAULT_PURPOSE_OF_USE } from '../fhir/purpose-of-use.ts';
import { type AccessEntry, type AccessLog, OPERATOR_ACCOUNT_ID } from '../privacy/access-log/access-log.ts';
import { withOperatorLog } from '../privacy/access-log/operator-log.ts';
import { accessEntry } from '../privacy/authorise-access.ts';
import type { WithAuditTraced } from '../tenancy/audit/audit.command.ts';
import type { OnAuditShown } from '../tenancy/audit/list-audit.ts';
import type { OrganisationScope } from '../tenancy/scope.ts';

/** Who reads the record of changes. */
interface AuditReader {
  readonly scope: OrganisationScope;
  readonly caller: { readonly accountId: string };
  readonly correlationId: string;
}

/** One entry for each patient and facility, at the facility where the setting was changed. */
export function traceShownSettings(
  accessLog: AccessLog,
  { scope: { organisationId }, caller, correlationId }: AuditReader,
): OnAuditShown {
  return async (rows) => {
    const entries = new Map<string, AccessEntry>();
    for (const { subjectType, subjectId: patientId, facilityIds } of rows) {
      const [facilityId] = facilityIds ?? [];
      if (subjectType !== 'patient' || facilityId === undefined) continue;
      const scope = { organisationId, facilityId };
      const reader = { scope, caller, correlationId, purposeOfUse: DEFAULT_PURPOSE_OF_USE };
      const read = { patientId, resourceType: 'Patient', resourceId: patientId };
      const entry = accessEntry(reader, { ...read, action: 'patient.privacy-read' }, 'allowed');
      entries.set(`${facilityId}/${patientId}`, entry);
    }
    if (entries.size > 0) await accessLog.record([...entries.values()]);
  };
}

export const withSettingsTraced: WithAuditTraced = (environment, { session, organisationId }, work) =>
  withOperatorLog(environment, session, (accessLog) => {
    const caller = { accountId: OPERATOR_ACCOUNT_ID };
    return work(
      traceShownSettings(accessLog, { scope: { organisationId }, caller, correlationId: randomUUID() }),
    );
  });

/**
 * The record of changes says which purposes a patient refuses, and whose held deliveries were replayed or skipped. Who is
 * shown that has read it: the access log of the patient has an entry, as for a read of the setting or of the deliveries.
 * Contract: LOG-7, ADM-34, ADM-35.
 */
import { DEFAULT_PURPOSE_OF_USE } from '../fhir/purpose-of-use.ts';
import type { AccessAction, AccessEntry, AccessLog } from '../privacy/access-log/access-log.ts';
import { withOperatorLog } from '../privacy/access-log/operator-log.ts';
import { accessEntry, type Reader } from '../privacy/authorise-access.ts';
import type { WithAuditTraced } from '../tenancy/audit/audit.command.ts';
import type { OnAuditShown } from '../tenancy/audit/list-audit.ts';
import type { OrganisationScope } from '../tenancy/scope.ts';

type Shown = Parameters<OnAuditShown>[0][number];

/** Who reads the record of changes. */
interface AuditReader extends Pick<Reader, 'caller' | 'correlationId'> {
  /** The operator is at no facility. */
  readonly scope: OrganisationScope & { readonly facilityId?: string };
}

/**
 * One entry for each patient and facility: where the change was made, else where it is read. What the operator did at all
 * facilities at once and reads again is at none.
 */
export function traceShownSettings(
  accessLog: AccessLog,
  { scope: { organisationId, facilityId: own }, caller, correlationId }: AuditReader,
): OnAuditShown {
  return async (rows) => {
    const entries = new Map<string, AccessEntry>();
    for (const row of rows) {
      const shown = shownOf(row);
      const facilityId = row.facilityIds?.[0] ?? own;
      if (shown === undefined || facilityId === undefined) continue;
      const { patientId, action } = shown;
      const scope = { organisationId, facilityId };
      const reader = { scope, caller, correlationId, purposeOfUse: DEFAULT_PURPOSE_OF_USE };
      const read = { patientId, action, resourceType: 'Patient', resourceId: patientId };
      entries.set(`${action} ${facilityId}/${patientId}`, accessEntry(reader, read, 'allowed'));
    }
    if (entries.size > 0) await accessLog.record([...entries.values()]);
  };
}

/** What an entry tells of a patient. */
function shownOf({
  subjectType,
  subjectId,
  after,
}: Shown): { patientId: string; action: AccessAction } | undefined {
  if (subjectType === 'patient') return { patientId: subjectId, action: 'patient.privacy-read' };
  const { patientId } = after;
  // In the filter of a replay or skip it stands as it was written.
  return typeof patientId === 'string'
    ? { patientId: patientId.toLowerCase(), action: 'delivery.list' }
    : undefined;
}

export const withSettingsTraced: WithAuditTraced = (environment, { session, organisationId }, work) =>
  withOperatorLog(environment, session, (accessLog, operator) =>
    work(traceShownSettings(accessLog, { ...operator, scope: { organisationId } })),
  );

/** What is written to a patient's access log, before the data is released. Contract: LOG-8. */
import type { PurposeOfUse } from '../../fhir/purpose-of-use.ts';

export interface AccessEntry {
  organisationId: string;
  facilityId: string;
  patientId: string;
  /** The account that reads or sends: of a delivery the id of its connection, of a command OPERATOR_ACCOUNT_ID. */
  accountId: string;
  /** Dotted name of what was done: `encounter.read`, `encounter.search`, `patient.list`, … */
  action: string;
  /** FHIR resource type, or the service's own record type in PascalCase. */
  resourceType: string;
  /** The one record concerned; null where many are. */
  resourceId: string | null;
  purposeOfUse: PurposeOfUse;
  outcome: 'allowed' | 'refused';
  correlationId: string;
}

/** Stands in the log for the operator on the command line, who has no account. */
export const OPERATOR_ACCOUNT_ID = '00000000-0000-0000-0000-000000000000';

export interface AccessLog {
  /** Resolves when the entries are durable. Rejects with a 503 when they could not be written: release nothing. */
  record(entries: readonly AccessEntry[]): Promise<void>;
}

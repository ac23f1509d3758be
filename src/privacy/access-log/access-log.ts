/** What is written to a patient's access log, before the data is released. Contract: LOG-8. */
import type { PurposeOfUse } from '../../fhir/purpose-of-use.ts';

/** What an entry may say was done. An older version may have written others. */
export const ACCESS_ACTIONS = [
  'access-log.read',
  'callback.list',
  'delivery.list',
  'delivery.read',
  'encounter.read',
  'encounter.search',
  'imaging-order.list',
  'imaging-order.publications.read',
  'imaging-order.publish',
  'imaging-order.publish-dry-run',
  'imaging-order.read',
  'lab-order.list',
  'lab-order.publications.read',
  'lab-order.publish',
  'lab-order.publish-dry-run',
  'lab-order.read',
  'lab-result.read',
  'patient.deliver',
  'patient.delivery-payload.read',
  'patient.list',
  'patient.privacy-change',
  'patient.privacy-read',
  'patient.read',
  'publication.list',
  'record.import',
  'record.import-dry-run',
  'vital-set.list',
  'vital-set.publications.read',
  'vital-set.publish',
  'vital-set.publish-dry-run',
  'vital-set.read',
] as const;

export type AccessAction = (typeof ACCESS_ACTIONS)[number];

export interface AccessEntry {
  organisationId: string;
  facilityId: string;
  patientId: string;
  /** The account that reads or sends: of a delivery the id of its connection, of a command OPERATOR_ACCOUNT_ID. */
  accountId: string;
  /** Dotted name of what was done: `encounter.read`, `encounter.search`, `patient.list`, … */
  action: AccessAction;
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

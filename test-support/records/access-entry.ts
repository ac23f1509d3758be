import { randomUUID } from 'node:crypto';
import type { AccessEntry } from '../../src/privacy/access-log/access-log.ts';

/** An entry for the access log: somebody read an Encounter. Ids are fresh where none are given. */
export function accessEntry(changes: Partial<AccessEntry> = {}): AccessEntry {
  return {
    organisationId: randomUUID(),
    facilityId: randomUUID(),
    patientId: randomUUID(),
    accountId: randomUUID(),
    action: 'encounter.read',
    resourceType: 'Encounter',
    resourceId: randomUUID(),
    purposeOfUse: 'TREATMENT',
    outcome: 'allowed',
    correlationId: randomUUID(),
    ...changes,
  };
}

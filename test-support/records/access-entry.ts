import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Pool } from '../../src/platform/db/database.ts';
import type { AccessEntry } from '../../src/privacy/access-log/access-log.ts';
import { createAccessLogWriter } from '../../src/privacy/access-log/access-log.writer.ts';

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

/** A chain of the access log, sealed with `key`, of a writer that wrote `entries` entries of one facility. */
export async function writeChain(pool: Pool, key: Buffer, entries: number): Promise<void> {
  const writer = createAccessLogWriter({
    pool,
    chainKey: async () => key,
    now: () => new Date(),
    onError: (error) => assert.fail(error),
  });
  const [organisationId, facilityId] = [randomUUID(), randomUUID()];
  await writer.record(Array.from({ length: entries }, () => accessEntry({ organisationId, facilityId })));
  await writer.close();
}

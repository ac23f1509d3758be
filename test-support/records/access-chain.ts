import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Pool } from '../../src/platform/db/database.ts';
import { createAccessLogWriter } from '../../src/privacy/access-log/access-log.writer.ts';
import { accessEntry } from './access-entry.ts';

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

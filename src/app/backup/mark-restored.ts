/**
 * What a database needs after it was put back to an older state (docs/adr/0136): new deliveries get numbers that were
 * never used, and the access log says why its end is missing.
 * Contract: EXC-54, LOG-16.
 */
import { randomUUID } from 'node:crypto';
import { lockQueueing, readNumbers, renumber } from '../../exchange/queue/renumber.store.ts';
import type { KeyRing } from '../../platform/crypto/key-ring.ts';
import { type Pool, type Queryable, transaction } from '../../platform/db/database.ts';
import { readDatabaseTime } from '../../platform/db/database-time.ts';
import { newestChainKey } from '../../privacy/access-log/access-log-keys.ts';
import { insertRestore } from '../../privacy/verification/restore.store.ts';
import { listOrganisations } from '../../tenancy/organisations/organisation.store.ts';
import { appError } from '../errors.ts';
import { recordPlace } from './database-place.ts';

export interface Mark {
  restoredAt: Date;
  /** New deliveries are numbered above it. */
  sequenceFloor: number;
  /** Deliveries that wait, and have new numbers. */
  renumbered: number;
}

export interface MarkOptions {
  /** Up to when the backup holds everything, where that is known. */
  backupTakenAt: Date | null;
  dryRun: boolean;
}

/**
 * Mark the database as put back, in one transaction; doing it twice only leaves another gap in the numbers. `owner` is of
 * the owner of the schema. Throws `clock_behind_restore` while the clock of the database is too far back for new numbers.
 */
export function markRestored(owner: Pool, keys: KeyRing, options: MarkOptions): Promise<Mark> {
  return transaction(owner, async (client) => {
    if (!options.dryRun) await lockQueueing(client);
    // Milliseconds: no patient changes that often, so no number since the backup is higher.
    const restoredAt = await readDatabaseTime(client);
    const sequenceFloor = restoredAt.getTime();
    let renumbered = 0;
    for (const { id: organisationId } of await listOrganisations(client)) {
      const { highest, waiting } = await readNumbers(client, { organisationId });
      refuseEarlyClock(sequenceFloor, highest);
      renumbered += waiting;
      if (!options.dryRun) await renumber(client, { organisationId }, sequenceFloor);
    }
    if (!options.dryRun) await record(client, keys, { restoredAt, backupTakenAt: options.backupTakenAt });
    return { restoredAt, sequenceFloor, renumbered };
  });
}

function refuseEarlyClock(floor: number, highest: number): void {
  if (highest >= floor)
    throw appError('clock_behind_restore', { now: new Date(floor), earlier: new Date(highest) });
}

async function record(
  client: Queryable,
  keys: KeyRing,
  times: { restoredAt: Date; backupTakenAt: Date | null },
): Promise<void> {
  await insertRestore(client, await newestChainKey(keys, client), { id: randomUUID(), ...times });
  await recordPlace(client);
}

/** What sign-in removes over time; safe to run on several processes at once. Contract: SIGN-IN-32. */
import type { Queryable } from '../../platform/db/database.ts';
import { deleteKeysRetiredBefore } from '../keys/signing-key.store.ts';
import { replacementsUntil, type SignInSettings, secondsAfter } from '../settings.ts';
import {
  deleteEndedSessions,
  deleteEndedSetupLinks,
  deleteExpiredTokens,
  deleteForgottenNetworks,
  deleteIdleCounters,
  deleteTokensOfRevokedSessions,
  eraseReplacements,
} from './sweep.store.ts';

const BATCH_ROWS = 1_000;
const BATCHES_AT_MOST = 20;
const DAY_SECONDS = 86_400;
/** A network counts as known this long after its last sign-in. */
const NETWORK_DAYS = 180;

/** Erase the sealed pairs whose repeat window has ended by every clock. Returns how many. */
export async function eraseExpiredReplacements(
  db: Queryable,
  now: Date,
  settings: Pick<SignInSettings, 'refreshRepeatSeconds'>,
): Promise<number> {
  const before = replacementsUntil(now, settings);
  return inBatches((limit) => eraseReplacements(db, before, limit));
}

/**
 * Remove expired tokens, ended sessions, old links, counters, networks and keys, at least a day after they stop to
 * matter; 20,000 rows of each kind at most, the rest the next time. Returns how many rows.
 */
export async function sweepSignIn(db: Queryable, now: Date): Promise<number> {
  const yesterday = secondsAfter(now, -DAY_SECONDS);
  // No lock and no window of failures is longer than a day (src/app/config).
  const twoDaysAgo = secondsAfter(now, -2 * DAY_SECONDS);
  let removed = 0;
  for (const step of [
    deleteExpiredTokens,
    deleteTokensOfRevokedSessions,
    deleteEndedSessions,
    deleteEndedSetupLinks,
  ])
    removed += await inBatches((limit) => step(db, yesterday, limit));
  removed += await inBatches((limit) => deleteIdleCounters(db, twoDaysAgo, limit));
  const forgotten = secondsAfter(now, -NETWORK_DAYS * DAY_SECONDS);
  removed += await inBatches((limit) => deleteForgottenNetworks(db, forgotten, limit));
  return removed + (await deleteKeysRetiredBefore(db, yesterday));
}

async function inBatches(batch: (limit: number) => Promise<number>): Promise<number> {
  let rows = 0;
  for (let count = 0; count < BATCHES_AT_MOST; count += 1) {
    const done = await batch(BATCH_ROWS);
    rows += done;
    if (done < BATCH_ROWS) break;
  }
  return rows;
}

/** What sign-in removes over time; safe to run on several processes at once. Contract: SIGN-IN-32. */
import { listOrganisations } from '../../tenancy/organisations/organisation.store.ts';
import { forEachOrganisation, type WorkContext } from '../../tenancy/organisations/organisation-work.ts';
import { deleteKeysRetiredBefore } from '../keys/signing-key.store.ts';
import { replacementsUntil, secondsAfter } from '../settings.ts';
import {
  deleteEndedSetupLinks,
  deleteExpiredSessions,
  deleteExpiredTokens,
  deleteForgottenNetworks,
  deleteIdleCounters,
  deleteRevokedSessions,
  deleteTokensOfRevokedSessions,
  eraseReplacements,
} from './sweep.store.ts';

const BATCH_ROWS = 1_000;
const BATCHES_AT_MOST = 20;
const DAY_SECONDS = 86_400;
const HOUR_MS = 3_600_000;
/** A network counts as known this long after its last sign-in. */
const NETWORK_DAYS = 180;

/** Erase the sealed pairs whose repeat window has ended by every clock. Returns how many. */
export async function eraseExpiredReplacements({ db, work }: WorkContext, now: Date): Promise<number> {
  const before = replacementsUntil(now);
  let erased = 0;
  const organisations = await listOrganisations(db);
  await forEachOrganisation(
    work,
    organisations.map(({ id }) => id),
    async (organisationId) => {
      erased += await inBatches((limit) => eraseReplacements(db, { organisationId }, { before, limit }));
    },
  );
  return erased;
}

/**
 * A sweep to be called every minute. It removes expired tokens, ended sessions, old links, counters, networks and keys, at
 * least a day after they stop mattering; 20,000 rows of each kind at most, the rest the next time. What belongs to an
 * organisation is looked at once an hour. Each call returns how many rows it removed.
 */
export function createSignInSweep({ db, work }: WorkContext): (now: Date) => Promise<number> {
  const sweptMs = new Map<string, number>();
  return async (now) => {
    const yesterday = secondsAfter(now, -DAY_SECONDS);
    // No lock and no window of failures is longer than a day (src/app/config).
    const twoDaysAgo = secondsAfter(now, -2 * DAY_SECONDS);
    const forgotten = secondsAfter(now, -NETWORK_DAYS * DAY_SECONDS);
    let removed = await inBatches((limit) => deleteIdleCounters(db, { before: twoDaysAgo, limit }));
    removed += await inBatches((limit) => deleteForgottenNetworks(db, { before: forgotten, limit }));
    removed += await deleteKeysRetiredBefore(db, yesterday);
    // A clock that was months ahead and is right again would else keep it from being due for months.
    const isDue = (id: string) =>
      Math.abs(now.getTime() - (sweptMs.get(id) ?? Number.NEGATIVE_INFINITY)) >= HOUR_MS;
    const due = (await listOrganisations(db)).map(({ id }) => id).filter(isDue);
    await forEachOrganisation(work, due, async (organisationId) => {
      let most = 0;
      for (const step of ORGANISATION_STEPS) {
        const rows = await inBatches((limit) => step(db, { organisationId }, { before: yesterday, limit }));
        removed += rows;
        most = Math.max(most, rows);
      }
      if (most < BATCH_ROWS * BATCHES_AT_MOST) sweptMs.set(organisationId, now.getTime());
    });
    return removed;
  };
}

const ORGANISATION_STEPS = [
  deleteExpiredTokens,
  deleteTokensOfRevokedSessions,
  deleteRevokedSessions,
  deleteExpiredSessions,
  deleteEndedSetupLinks,
];

async function inBatches(batch: (limit: number) => Promise<number>): Promise<number> {
  let rows = 0;
  for (let count = 0; count < BATCHES_AT_MOST; count += 1) {
    const done = await batch(BATCH_ROWS);
    rows += done;
    if (done < BATCH_ROWS) break;
  }
  return rows;
}

/**
 * Locks of sign-in after repeated failures (docs/adr/0005).
 *
 * An attempt is reserved before its password is looked at, so that attempts that race cannot pass the limit.
 * A network that signed in to an identity before has a counter of its own; all others share one.
 * Contract: SIGN-IN-12, SIGN-IN-13, SIGN-IN-20, SEC-1, SEC-3, SEC-4.
 */
import { createHmac, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { KeyRing } from '../../platform/crypto/key-ring.ts';
import type { Queryable } from '../../platform/db/database.ts';
import type { DatabaseTime } from '../../platform/db/database-time.ts';
import { signInError } from '../errors.ts';
import { type SignInSettings, secondsAfter } from '../settings.ts';
import { createInFlight } from './in-flight.ts';
import {
  type CounterKey,
  clearCounters,
  insertNetwork,
  readLock,
  readLockedIdentities,
  recordFailure,
  recordSuccess,
  releaseAttempt,
  reserveAttempt,
} from './lockout.store.ts';
import { networkOf } from './network.ts';

/** One reserved attempt; it ends in exactly one of `fail`, `succeed` and `release`. */
export interface SignInAttempt extends CounterKey {
  attemptId: string;
  /** The network that the attempt came from. */
  from: string;
  /** When it began, by the clock of the database. */
  now: Date;
}

export interface AttemptContext {
  databaseTime: DatabaseTime;
  remoteAddress: string;
}

export interface Lockout {
  /**
   * Reserve an attempt. 429 with `retry-after` while the identity is locked for this network; 503 while as many attempts
   * as it has left are under way.
   */
  begin(identity: string, context: AttemptContext): Promise<SignInAttempt>;
  /** The password was wrong. Tells whether this failure locked the identity. */
  fail(attempt: SignInAttempt): Promise<{ locked: boolean }>;
  /** The password was right; takes part in the caller's transaction. */
  succeed(db: Queryable, attempt: SignInAttempt): Promise<void>;
  /** Neither a failure nor a success: the password was not looked at, or was right and a second factor is still to come. */
  release(attempt: SignInAttempt, client?: Queryable): Promise<void>;
}

const IDENTITY_PURPOSE = 'sign-in/identity';
/** A process that dies in the middle leaves its attempts pending for this long at most. */
const PENDING_SECONDS = 60;
/** Of one network. */
const WAITERS_AT_MOST = 32;
const WAIT_STEPS_MS = [20, 40, 80, 160, 320, 500, 500, 500, 500, 500];

type Reserved = CounterKey & Pick<SignInAttempt, 'now'>;
type LockSettings = Pick<SignInSettings, 'lockFailures' | 'lockWindowSeconds' | 'lockSeconds'>;

export function createLockout(db: Queryable, keys: Pick<KeyRing, 'derive'>, settings: LockSettings): Lockout {
  const waiters = createInFlight(WAITERS_AT_MOST);

  /** Attempts under way may all turn out right, so a further one waits for them a little. */
  async function waitForTurn(
    network: string,
    reserve: () => Promise<Reserved | undefined>,
  ): Promise<Reserved | undefined> {
    const waiter = waiters.enter(network);
    if (waiter === undefined) return undefined;
    try {
      for (const waitMs of WAIT_STEPS_MS) {
        await sleep(waitMs);
        const key = await reserve();
        if (key !== undefined) return key;
      }
      return undefined;
    } finally {
      waiter.leave();
    }
  }

  async function begin(identity: string, { databaseTime, remoteAddress }: AttemptContext) {
    const identityHash = hashIdentity(keys, identity);
    const from = networkOf(remoteAddress);
    const attemptId = randomUUID();
    const reserve = async (): Promise<Reserved | undefined> => {
      const reserved = await reserveAttempt(db, {
        identityHash,
        network: from,
        attemptId,
        databaseTime,
        limit: settings.lockFailures,
        windowSeconds: settings.lockWindowSeconds,
        pendingSeconds: PENDING_SECONDS,
      });
      if (reserved !== undefined) return reserved;
      const lock = await readLock(db, { identityHash, network: from }, databaseTime);
      if (lock !== undefined) throw signInError('sign_in_locked', { retryAfterSeconds: lock.seconds });
      return undefined;
    };
    const reserved = (await reserve()) ?? (await waitForTurn(from, reserve));
    if (reserved === undefined) throw signInError('sign_in_overloaded');
    return { ...reserved, attemptId, from };
  }

  return {
    begin,
    fail: (attempt) =>
      recordFailure(db, {
        ...attempt,
        limit: settings.lockFailures,
        failuresSince: secondsAfter(attempt.now, -settings.lockWindowSeconds),
        lockUntil: secondsAfter(attempt.now, settings.lockSeconds),
      }),
    succeed: recordSuccess,
    release: (attempt, client = db) => releaseAttempt(client, attempt),
  };
}

/**
 * Whoever is at this network proved to be the owner by other means than a sign-in. From now on failures elsewhere do not
 * lock the identity for it: it has a counter of its own.
 */
export async function vouchFor(
  db: Queryable,
  keys: Pick<KeyRing, 'derive'>,
  identity: string,
  { from, now }: Pick<SignInAttempt, 'from' | 'now'>,
): Promise<void> {
  await insertNetwork(db, { identityHash: hashIdentity(keys, identity), network: from, now });
}

/** Forget the failures and locks of an identity. False where there were none. */
export async function unlock(
  db: Queryable,
  keys: Pick<KeyRing, 'derive'>,
  identity: string,
): Promise<boolean> {
  return clearCounters(db, hashIdentity(keys, identity));
}

/** Which of the accounts are locked for some network. */
export async function lockedAccounts(
  { db, keys }: { db: Queryable; keys: Pick<KeyRing, 'derive'> },
  accountIds: readonly string[],
  databaseTime: DatabaseTime,
): Promise<Set<string>> {
  const byHash = new Map(accountIds.map((id) => [hashIdentity(keys, id).toString('hex'), id]));
  const hashes = await readLockedIdentities(db, [...byHash.keys()], databaseTime);
  return new Set(hashes.flatMap((hash) => byHash.get(hash) ?? []));
}

/**
 * Whatever was sent as identity, in 32 bytes; a UUID counts the same in either case. Keyed, because it may be a
 * password in the wrong field, which a bare hash in a stolen database would give away.
 */
function hashIdentity(keys: Pick<KeyRing, 'derive'>, identity: string): Buffer {
  return createHmac('sha256', keys.derive(IDENTITY_PURPOSE)).update(identity.toLowerCase()).digest();
}

/**
 * A lease that is waited for, renewed while the work goes on, and never held in a transaction. A process that
 * dies leaves it to run out; by then no request of that process is under way any more.
 */
import { randomUUID } from 'node:crypto';
import type { Queryable } from '../platform/db/database.ts';
import { unavailable } from '../platform/http/errors.ts';
import { giveLeaseBack, type HeldLease, type LeaseKey, renewLease, takeLease } from './lease.store.ts';
import type { Clock } from './retry.ts';

export interface LeaseSettings {
  /** Beyond the time of one request. */
  marginMs: number;
  /** A second publish waits so long for the first. */
  waitMs: number;
}

export const LEASE: LeaseSettings = { marginMs: 10_000, waitMs: 60_000 };

export interface Lease extends HeldLease {
  /** Someone else had it first. */
  waited: boolean;
  /** Throws when the lease may run out before a request that begins now has ended. */
  requireHeld(): void;
  /** It was given back with something else that was written. */
  noteGivenBack(): void;
}

export interface LeaseOptions {
  db: Queryable;
  clock: Clock;
  settings: LeaseSettings;
  /** Of one request. */
  timeoutMs: number;
}

const POLL_MS = 100;

/** Run `work` under the lease. 503 when someone else has it for longer than a caller should wait. */
export async function withLease<T>(
  options: LeaseOptions,
  key: LeaseKey,
  work: (lease: Lease) => Promise<T>,
): Promise<T> {
  const { db, settings, timeoutMs } = options;
  const token = randomUUID();
  const durationMs = timeoutMs + settings.marginMs;
  const taken = await take(options, key, { token, durationMs });
  let { heldUntilMs } = taken;
  let givenBack = false;
  let renewing: Promise<void> | undefined;
  const timer = setInterval(() => {
    renewing ??= renew().finally(() => {
      renewing = undefined;
    });
  }, settings.marginMs / 4);
  timer.unref();

  async function renew(): Promise<void> {
    const startedMs = performance.now();
    // A database that does not answer is asked again; until then the lease runs on.
    const held = await renewLease(db, key, { token, durationMs }).catch(() => undefined);
    if (held === true) heldUntilMs = startedMs + durationMs;
    if (held === false) heldUntilMs = Number.NEGATIVE_INFINITY;
  }

  try {
    return await work({
      key,
      token,
      waited: taken.waited,
      noteGivenBack() {
        givenBack = true;
      },
      requireHeld() {
        if (performance.now() + timeoutMs > heldUntilMs)
          throw unavailable(
            'This publish was overtaken by another one. Publish again.',
            5,
            'publish_overtaken',
          );
      },
    });
  } finally {
    clearInterval(timer);
    await renewing;
    if (!givenBack) await giveLeaseBack(db, key, token).catch(() => undefined);
  }
}

/** `heldUntilMs` is on the clock of `performance.now()`. */
async function take(
  { db, clock, settings }: LeaseOptions,
  key: LeaseKey,
  lease: { token: string; durationMs: number },
): Promise<{ heldUntilMs: number; waited: boolean }> {
  const endMs = clock.nowMs() + settings.waitMs;
  for (let waited = false; ; waited = true) {
    const startedMs = performance.now();
    if (await takeLease(db, key, lease)) return { heldUntilMs: startedMs + lease.durationMs, waited };
    if (clock.nowMs() >= endMs)
      throw unavailable(
        "Another publish of this patient's records is under way. Publish again when it has ended.",
        10,
        'publish_busy',
      );
    await clock.sleep(POLL_MS * (0.5 + Math.random()));
  }
}

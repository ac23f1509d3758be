/**
 * A lease that is waited for, renewed while the work goes on, and never held in a transaction. A process that
 * dies leaves it to run out; by then no request of that process is under way any more. Those who wait in one process
 * do so in turns: the end of one is the turn of the next, and only the first asks the database (docs/adr/0074).
 * Contract: PUB-31, PUB-33.
 */
import { randomUUID } from 'node:crypto';
import type { Queryable } from '../../platform/db/database.ts';
import { type HttpError, unavailable } from '../../platform/http/errors.ts';
import { splitKey } from '../plan/content.fhir.ts';
import type { Clock } from '../send/retry.ts';
import { giveLeaseBack, type HeldLease, type LeaseKey, renewLease, type WantedLease } from './lease.store.ts';
import type { Turn, Waiting } from './waiting.ts';

export interface PublishLeaseSettings {
  /** Beyond the time of one request. */
  marginMs: number;
  /** A second publish waits so long for the first. */
  waitMs: number;
}

export const PUBLISH_LEASE: PublishLeaseSettings = { marginMs: 10_000, waitMs: 60_000 };

export interface PublishLease extends HeldLease {
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
  settings: PublishLeaseSettings;
  /** Of one request. */
  timeoutMs: number;
  waiting: Waiting;
}

/** Between two looks at a lease that another process has; doubled after each. */
const FIRST_POLL_MS = 100;
const MAX_POLL_MS = 1_000;

export interface LeasedWork<Taken, T> {
  /** Take the lease, and what else is done in one go with that. Undefined or false: someone else has it. */
  take: (wanted: WantedLease) => Promise<Taken | undefined | false>;
  work: (lease: PublishLease, taken: Taken) => Promise<T>;
  /** Throws when nobody wants it any more; asked while it is waited for. */
  requireWanted?: () => void;
  /** Whose publishes that wait are counted; undefined: this one is not. */
  accountId?: string;
}

/**
 * Run `work` under the lease. 503 when someone else has it for longer than a caller should wait, or too many of the
 * account wait already.
 */
export async function withLease<Taken, T>(
  options: LeaseOptions,
  key: LeaseKey,
  leased: LeasedWork<Taken, T>,
): Promise<T> {
  const turn = options.waiting.join(`${key.organisationId} ${key.fhirServerId} ${key.record}`);
  try {
    return await inTurn(options, { key, turn }, leased);
  } finally {
    turn.end();
  }
}

async function inTurn<Taken, T>(
  options: LeaseOptions,
  { key, turn }: { key: LeaseKey; turn: Turn },
  leased: LeasedWork<Taken, T>,
): Promise<T> {
  const { db, settings, timeoutMs } = options;
  const token = randomUUID();
  const durationMs = timeoutMs + settings.marginMs;
  const wanted = { key, token, durationMs };
  const { taken, waited, ...held } = await untilTaken(options, { wanted, turn }, leased);
  let heldUntilMs = held.askedMs + durationMs;
  let givenBack = false;
  let renewed = false;
  let renewing: Promise<void> | undefined;
  const timer = setInterval(() => {
    renewing ??= renew().finally(() => {
      renewing = undefined;
    });
  }, settings.marginMs / 4);
  timer.unref();

  async function renew(): Promise<void> {
    renewed = true;
    const startedMs = performance.now();
    // A database that does not answer is asked again; until then the lease runs on.
    const held = await renewLease(db, wanted).catch(() => undefined);
    if (held === true) heldUntilMs = startedMs + durationMs;
    if (held === false) heldUntilMs = Number.NEGATIVE_INFINITY;
  }

  try {
    const lease: PublishLease = {
      key,
      token,
      waited,
      noteGivenBack() {
        givenBack = true;
      },
      requireHeld() {
        if (performance.now() + timeoutMs > heldUntilMs)
          throw unavailable(
            'Another publish took over while this one waited. Publish again.',
            5,
            'publish_overtaken',
          );
      },
    };
    return await leased.work(lease, taken);
  } finally {
    clearInterval(timer);
    await renewing;
    // A renewal that was under way while it was given back may have let it run on.
    if (!givenBack || renewed) await giveLeaseBack(db, wanted).catch(() => undefined);
  }
}

/** `askedMs`: when the lease was asked for, on the clock of `performance.now()`. */
async function untilTaken<Taken, T>(
  { clock, settings, waiting }: LeaseOptions,
  { wanted, turn }: { wanted: WantedLease; turn: Turn },
  { take, requireWanted, accountId }: LeasedWork<Taken, T>,
): Promise<{ taken: Taken; askedMs: number; waited: boolean }> {
  const endMs = clock.nowMs() + settings.waitMs;
  let pollMs = FIRST_POLL_MS;
  let stopCounting: (() => void) | undefined;
  try {
    for (let waited = false; ; waited = true) {
      requireWanted?.();
      const isTurn = turn.isNow();
      const askedMs = performance.now();
      const taken = isTurn && (await take(wanted));
      if (taken !== undefined && taken !== false) return { taken, askedMs, waited };
      if (clock.nowMs() >= endMs) throw busy(wanted.key);
      if (accountId !== undefined) stopCounting ??= waiting.count(accountId);
      if (isTurn) {
        await clock.sleep(pollMs * (0.5 + Math.random()));
        pollMs = Math.min(2 * pollMs, MAX_POLL_MS);
      } else await Promise.race([turn.comes, clock.sleep(MAX_POLL_MS)]);
    }
  } finally {
    stopCounting?.();
  }
}

function busy(key: LeaseKey): HttpError {
  return unavailable(
    `Another publish of ${whose(key)} is running. Publish again when it has ended.`,
    10,
    'publish_busy',
  );
}

function whose({ record, subject }: LeaseKey): string {
  if (subject !== undefined) return 'this record or this patient';
  return `the ${splitKey(record).type} that this record shares with others`;
}

/**
 * A lease that is waited for, renewed while the work goes on, and never held in a transaction. A process that
 * dies leaves it to run out; by then no request of that process is under way any more. Those who wait in one process
 * do so in turns: the end of one is the turn of the next, and only the first asks the database (docs/adr/0074).
 * Contract: PUB-31, PUB-33.
 */
import { randomUUID } from 'node:crypto';
import { delayAfterFailures, spreadDelay } from '../../outbound/backoff.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { publishError } from '../errors.ts';
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

/** Between two looks at a lease that another process has. */
const POLL = { firstMs: 100, maxMs: 1_000 };

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
    const durationMs = options.timeoutMs + options.settings.marginMs;
    const wanted = { key, token: randomUUID(), durationMs };
    const { taken, ...asked } = await untilTaken(options, { wanted, turn }, leased);
    const kept = keepLease(options, wanted, asked);
    try {
      return await leased.work(kept.lease, taken);
    } finally {
      await kept.end();
    }
  } finally {
    turn.end();
  }
}

/** What is known of a lease while it is held. Times are on the clock of `performance.now()`. */
interface LeaseState {
  heldUntilMs: number;
  givenBack: boolean;
  renewed: boolean;
  renewing: Promise<void> | undefined;
}

/** Renews the lease until `end`, which gives it back. */
function keepLease(
  { db, settings, timeoutMs }: LeaseOptions,
  wanted: WantedLease,
  { askedMs, waited }: { askedMs: number; waited: boolean },
): { lease: PublishLease; end: () => Promise<void> } {
  const { key, token, durationMs } = wanted;
  const state: LeaseState = {
    heldUntilMs: askedMs + durationMs,
    givenBack: false,
    renewed: false,
    renewing: undefined,
  };
  const timer = setInterval(() => {
    state.renewing ??= renew(db, wanted, state).finally(() => {
      state.renewing = undefined;
    });
  }, settings.marginMs / 4);
  timer.unref();
  return {
    lease: {
      key,
      token,
      waited,
      noteGivenBack() {
        state.givenBack = true;
      },
      requireHeld() {
        if (performance.now() + timeoutMs > state.heldUntilMs) throw publishError('publish_overtaken');
      },
    },
    async end() {
      clearInterval(timer);
      await state.renewing;
      // A renewal that was under way while it was given back may have let it run on.
      if (!state.givenBack || state.renewed) await giveLeaseBack(db, wanted).catch(() => undefined);
    },
  };
}

async function renew(db: Queryable, wanted: WantedLease, state: LeaseState): Promise<void> {
  state.renewed = true;
  const startedMs = performance.now();
  // A database that does not answer is asked again; until then the lease runs on.
  const held = await renewLease(db, wanted).catch(() => undefined);
  if (held === true) state.heldUntilMs = startedMs + wanted.durationMs;
  if (held === false) state.heldUntilMs = Number.NEGATIVE_INFINITY;
}

/** `askedMs`: when the lease was asked for, on the clock of `performance.now()`. */
async function untilTaken<Taken, T>(
  { clock, settings, waiting }: LeaseOptions,
  { wanted, turn }: { wanted: WantedLease; turn: Turn },
  { take, requireWanted, accountId }: LeasedWork<Taken, T>,
): Promise<{ taken: Taken; askedMs: number; waited: boolean }> {
  const endMs = clock.nowMs() + settings.waitMs;
  let polls = 0;
  let stopCounting: (() => void) | undefined;
  try {
    for (let waited = false; ; waited = true) {
      requireWanted?.();
      const isTurn = turn.isNow();
      const askedMs = performance.now();
      const taken = isTurn && (await take(wanted));
      if (taken !== undefined && taken !== false) return { taken, askedMs, waited };
      if (clock.nowMs() >= endMs) throw publishError('publish_busy', { records: whose(wanted.key) });
      if (accountId !== undefined) stopCounting ??= waiting.count(accountId);
      if (isTurn) {
        polls += 1;
        await clock.sleep(
          spreadDelay(delayAfterFailures(POLL, polls), { from: 0.5, to: 1.5 }, Math.random()),
        );
      } else await Promise.race([turn.comes, clock.sleep(POLL.maxMs)]);
    }
  } finally {
    stopCounting?.();
  }
}

function whose({ record, subject }: LeaseKey): string {
  if (subject !== undefined) return 'this record or this patient';
  return `the ${splitKey(record).type} that this record shares with others`;
}

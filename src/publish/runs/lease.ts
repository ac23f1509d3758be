/**
 * Waits for a lease, runs work under it, and renews it meanwhile. No transaction stays open. If the process dies, the
 * lease ends by itself; by then no request of that process is under way. Publishes that wait for one lease in a process
 * take turns: only the first asks the database, and the end of its work is the turn of the next (docs/adr/0074).
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
  /** How much longer a lease lasts than one request. */
  marginMs: number;
  /** How long a second publish waits for the first. */
  waitMs: number;
}

export const PUBLISH_LEASE: PublishLeaseSettings = { marginMs: 10_000, waitMs: 60_000 };

export interface PublishLease extends HeldLease {
  /** Somebody else held it first, and this publish waited. */
  waited: boolean;
  /** Throws when the lease may end before a request that begins now does. */
  requireHeld(): void;
  /** The statement that ended the publish has given it back. */
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
  /** Take the lease, and do what belongs into the same statement. Undefined or false: somebody else has the lease. */
  take: (wanted: WantedLease) => Promise<Taken | undefined | false>;
  work: (lease: PublishLease, taken: Taken) => Promise<T>;
  /** Called while this waits. Throws when nobody needs the lease any more. */
  requireWanted?: () => void;
  /** The account for which this wait counts; undefined: it is not counted. */
  accountId?: string;
}

/**
 * Run `work` under the lease. Throws `publish_busy` when somebody else keeps the lease too long, and `too_many_waiting`
 * when too many publishes of the account wait already.
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

/**
 * Waits for a lease, runs work under it, and renews it meanwhile. No transaction stays open. If the process dies, the
 * lease ends by itself; by then no request of that process is under way. Publishes that wait for one lease in a process
 * take turns: only the first asks the database, and the end of its work is the turn of the next (docs/adr/0074).
 * Contract: PUB-31, PUB-32, PUB-33.
 */

import { randomUUID } from 'node:crypto';
import { delayAfterFailures, spreadDelay } from '../../outbound/backoff.ts';
import { type LeaseEnd, leaseEndAfter } from '../../outbound/lease-end.ts';
import type { Queryable } from '../../platform/db/database.ts';
import type { Words } from '../../platform/words/words.ts';
import { publishError } from '../errors.ts';
import { splitKey } from '../plan/content.fhir.ts';
import type { FhirServer } from '../servers/fhir-server.ts';
import type { PublishSettings } from '../servers/publish-settings.ts';
import { giveLeaseBack, type LeaseKey, renewLease, takeLease, type WantedLease } from './lease.store.ts';
import type { Turn, Waiting } from './waiting.ts';

export interface PublishLease {
  /** Somebody else held it first, and this publish waited. */
  waited: boolean;
  /** Throws when the lease may end before a request that begins now does. */
  requireHeld(): void;
}

export interface LeaseDependencies {
  db: Queryable;
  settings: Pick<PublishSettings, 'clock' | 'lease'>;
  /** `timeoutMs`: of one request. */
  server: Pick<FhirServer, 'timeoutMs'>;
  waiting: Waiting;
  /** The wall clock. */
  now: () => Date;
}

/** Begins the lease for the create of a Patient. */
export const CREATE = 'create ';

/** Between two looks at a lease that another process has. */
const POLL = { firstMs: 100, maxMs: 1_000 };

export interface LeasedWork<T> {
  work: (lease: PublishLease) => Promise<T>;
  /** Called while this waits. Throws when nobody needs the lease any more. */
  requireWanted?: () => void;
  /** The account for which this wait counts; undefined: it is not counted. */
  accountId?: string;
}

/**
 * Run `work` under the lease. Throws `publish_busy` when somebody else keeps the lease too long, and `too_many_waiting`
 * when too many publishes of the account wait already.
 */
export async function withLease<T>(
  deps: LeaseDependencies,
  key: LeaseKey,
  leased: LeasedWork<T>,
): Promise<T> {
  const { db, settings, server, waiting } = deps;
  const wanted = { key, token: randomUUID(), durationMs: server.timeoutMs + settings.lease.marginMs };
  const turn = waiting.join(`${key.organisationId} ${key.fhirServerId} ${key.records[0]}`);
  try {
    const { end, waited } = await untilTaken(deps, { wanted, turn }, leased);
    const held = keepHeld(deps, wanted, end);
    try {
      return await leased.work({ waited, requireHeld: held.require });
    } finally {
      await held.end();
      await giveLeaseBack(db, wanted).catch(() => undefined);
    }
  } finally {
    turn.end();
  }
}

async function untilTaken<T>(
  { db, settings: { clock, lease }, waiting, now }: LeaseDependencies,
  { wanted, turn }: { wanted: WantedLease; turn: Turn },
  { requireWanted, accountId }: LeasedWork<T>,
): Promise<{ end: LeaseEnd; waited: boolean }> {
  const endMs = clock.nowMs() + lease.waitMs;
  let polls = 0;
  let stopCounting: (() => void) | undefined;
  try {
    for (let waited = false; ; waited = true) {
      requireWanted?.();
      const isTurn = turn.isNow();
      // Computed before the database begins the lease, so that it ends before the lease.
      const end = leaseEndAfter(wanted.durationMs, now);
      if (isTurn && (await takeLease(db, wanted))) return { end, waited };
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

function whose({ records: [record, subject] }: LeaseKey): Words {
  if (record === undefined || subject !== undefined)
    return { en: 'this record or this patient', fr: 'ce dossier ou de ce patient' };
  const type = splitKey(record).type.replace(CREATE, '');
  return {
    en: `the ${type} that this record shares with others`,
    fr: `la ressource ${type} que ce dossier partage avec d’autres`,
  };
}

/** What is known of a lease while it is held. */
interface LeaseState {
  /** Undefined: it is lost. */
  end: LeaseEnd | undefined;
  renewing: Promise<void> | undefined;
}

/** Renews the lease until `end`. */
function keepHeld(
  deps: LeaseDependencies,
  wanted: WantedLease,
  end: LeaseEnd,
): { require: () => void; end: () => Promise<void> } {
  const { settings, server } = deps;
  const state: LeaseState = { end, renewing: undefined };
  const timer = setInterval(() => {
    state.renewing ??= renew(deps, wanted, state).finally(() => {
      state.renewing = undefined;
    });
  }, settings.lease.marginMs / 4);
  timer.unref();
  return {
    require() {
      if (state.end === undefined || state.end.isWithin(server.timeoutMs))
        throw publishError('publish_overtaken');
    },
    async end() {
      clearInterval(timer);
      await state.renewing;
    },
  };
}

async function renew({ db, now }: LeaseDependencies, wanted: WantedLease, state: LeaseState): Promise<void> {
  const end = leaseEndAfter(wanted.durationMs, now);
  // A database that does not answer is asked again; until then the lease runs on.
  const held = await renewLease(db, wanted).catch(() => undefined);
  if (held !== undefined) state.end = held ? end : undefined;
}

/** The numbers of publishing, together. */
import { setTimeout as sleep } from 'node:timers/promises';

/** The clock of publishing. In tests time passes without waiting. */
export interface Clock {
  /** Milliseconds on a clock that only goes forward. */
  nowMs(): number;
  /** Also over once `wake` is aborted. */
  sleep(ms: number, wake?: AbortSignal): Promise<void>;
}

const CLOCK: Clock = {
  nowMs: () => performance.now(),
  sleep: (ms, wake) => sleep(ms, undefined, { signal: wake }).catch(() => undefined),
};

export const PUBLISH = {
  retry: {
    /** How long one publish may try again, for all its resources together. Requests under way count. */
    budgetMs: 30_000,
    /** Before the second try; doubled for each further one. */
    firstMs: 250,
    maxMs: 8_000,
    /** In [0, 1). */
    random: Math.random,
  },
  breaker: {
    /** Publishes in a row that failed because the server did not answer. */
    failures: 3,
    /** Until one publish tries again. */
    openMs: 15_000,
  },
  lease: {
    /** How much longer a lease lasts than one request. */
    marginMs: 10_000,
    /** How long a second publish waits for the first. */
    waitMs: 60_000,
  },
  /** How long a publish that stopped can be continued. After that everything is sent again. */
  resumeMs: 3_600_000,
  /** How many publishes of one account may wait in one process. */
  waitingPerAccount: 20,
  clock: CLOCK,
};

export type PublishSettings = typeof PUBLISH;

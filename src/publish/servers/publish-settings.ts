/** The numbers of publishing, together. */
import { setTimeout as sleep } from 'node:timers/promises';
import { PUBLISH_LEASE, type PublishLeaseSettings } from '../runs/lease.ts';
import { PUBLISH_BREAKER, type PublishBreakerSettings } from '../send/breaker.ts';
import { type Clock, WRITE_RETRY, type WriteRetrySettings } from '../send/retry.ts';

export interface PublishSettings {
  retry: WriteRetrySettings;
  breaker: PublishBreakerSettings;
  lease: PublishLeaseSettings;
  /** How long a publish that stopped can be continued. After that everything is sent again. */
  resumeMs: number;
  /** How many publishes of one account may wait in one process. */
  waitingPerAccount: number;
  clock: Clock;
}

export const PUBLISH: PublishSettings = {
  retry: WRITE_RETRY,
  breaker: PUBLISH_BREAKER,
  lease: PUBLISH_LEASE,
  resumeMs: 3_600_000,
  waitingPerAccount: 20,
  clock: { nowMs: () => performance.now(), sleep: (ms) => sleep(ms) },
};

/** The numbers of publishing, together. */
import { setTimeout as sleep } from 'node:timers/promises';
import { LEASE, type LeaseSettings } from '../runs/lease.ts';
import { CIRCUIT, type CircuitSettings } from '../send/breaker.ts';
import { type Clock, RETRY, type RetrySettings } from '../send/retry.ts';

export interface PublishSettings {
  retry: RetrySettings;
  circuit: CircuitSettings;
  lease: LeaseSettings;
  /** A publish that stopped is gone on with for so long; later everything is sent again. */
  resumeMs: number;
  /** Publishes of one account that may wait in one process for others to end. */
  waitingPerAccount: number;
  clock: Clock;
}

export const PUBLISH: PublishSettings = {
  retry: RETRY,
  circuit: CIRCUIT,
  lease: LEASE,
  resumeMs: 3_600_000,
  waitingPerAccount: 20,
  clock: { nowMs: () => performance.now(), sleep: (ms) => sleep(ms) },
};

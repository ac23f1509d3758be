/** The numbers of delivery. Contract: EXC-16. */

import type { AddressSettings } from '../connections/connection.ts';
import type { DeliveryBreakerSettings } from './breaker.ts';
import type { DeliveryRetrySettings } from './decide-retry.ts';

export interface DeliverySettings extends AddressSettings {
  retry: DeliveryRetrySettings;
  breaker: DeliveryBreakerSettings;
  /** How long a lane is a worker's at least; longer where the time-out of the connection asks for it. */
  leaseMs: number;
  /** Between looks for something due while there is nothing to do. */
  pollMs: number;
}

export const DELIVERY: DeliverySettings = {
  retry: {
    delaysMs: [5_000, 30_000, 120_000, 600_000, 1_800_000, 7_200_000, 18_000_000, 36_000_000],
    jitter: 0.2,
    maxRetryAfterMs: 86_400_000,
  },
  breaker: { failures: 5, probeMs: 5_000, maxProbeMs: 60_000 },
  leaseMs: 60_000,
  pollMs: 200,
  allowPrivateAddresses: false,
};

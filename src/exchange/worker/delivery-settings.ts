/** The numbers of delivery. Contract: EXC-16. */

import type { AddressSettings } from '../connections/connection.ts';
import { DELIVERY_BREAKER, type DeliveryBreakerSettings } from './breaker.ts';
import { DELIVERY_RETRY, type DeliveryRetrySettings } from './decide-retry.ts';

export interface DeliverySettings extends AddressSettings {
  retry: DeliveryRetrySettings;
  breaker: DeliveryBreakerSettings;
  /** How long a lane is a worker's at least; longer where the time-out of the connection asks for it. */
  leaseMs: number;
  /** Between looks for something due while there is nothing to do. */
  pollMs: number;
}

export const DELIVERY: DeliverySettings = {
  retry: DELIVERY_RETRY,
  breaker: DELIVERY_BREAKER,
  leaseMs: 60_000,
  pollMs: 200,
  allowPrivateAddresses: false,
};

/** The numbers of delivery. Contract: EXC-16. */

import type { AddressSettings } from '../connections/connection.ts';
import { CIRCUIT, type CircuitSettings } from './breaker.ts';
import { RETRY, type RetrySettings } from './retry.ts';

export interface DeliverySettings extends AddressSettings {
  retry: RetrySettings;
  circuit: CircuitSettings;
  /** How long a lane is a worker's at least; longer where the time-out of the connection asks for it. */
  leaseMs: number;
  /** Between looks for something due while there is nothing to do. */
  pollMs: number;
}

export const DELIVERY: DeliverySettings = {
  retry: RETRY,
  circuit: CIRCUIT,
  leaseMs: 60_000,
  pollMs: 200,
  allowPrivateAddresses: false,
};

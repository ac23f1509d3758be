/** The numbers of delivery from the environment. Contract: EXC-16. */
import { DELIVERY, type DeliverySettings } from '../../exchange/worker/delivery-settings.ts';
import type { EnvironmentReader } from './environment.ts';

export function deliverySettings(reader: EnvironmentReader): DeliverySettings {
  const { retry, breaker, leaseMs, pollMs } = DELIVERY;
  const seconds = (name: string, fallbackMs: number) =>
    reader.integer(name, { min: 1, max: 86_400, fallback: fallbackMs / 1_000 }) * 1_000;
  return {
    retry: { ...retry, delaysMs: delays(reader) ?? retry.delaysMs },
    breaker: {
      failures: reader.integer('DELIVERY_CIRCUIT_FAILURES', {
        min: 1,
        max: 1_000,
        fallback: breaker.failures,
      }),
      probeMs: seconds('DELIVERY_PROBE_SECONDS', breaker.probeMs),
      maxProbeMs: seconds('DELIVERY_MAX_PROBE_SECONDS', breaker.maxProbeMs),
    },
    leaseMs: seconds('DELIVERY_LEASE_SECONDS', leaseMs),
    pollMs: reader.integer('DELIVERY_POLL_MS', { min: 10, max: 60_000, fallback: pollMs }),
    allowPrivateAddresses:
      reader.choice('EXCHANGE_ALLOW_PRIVATE_ADDRESSES', ['true', 'false'], 'false') === 'true',
  };
}

/** `5,30,120`: seconds before each further try. */
function delays(reader: EnvironmentReader): number[] | undefined {
  const text = reader.text('DELIVERY_RETRY_SECONDS');
  if (text === undefined) return undefined;
  const parts = text.split(',').map((part) => part.trim());
  if (parts.length <= 50 && parts.every((part) => /^\d{1,6}(\.\d{1,3})?$/.test(part)))
    return parts.map((part) => Math.round(Number(part) * 1_000));
  reader.fault('DELIVERY_RETRY_SECONDS', 'must be seconds separated by commas, such as 5,30,120');
  return undefined;
}

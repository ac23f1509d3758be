/** Posts signed deliveries to one exchange (docs/adr/0023). */
import { hash } from 'node:crypto';
import type { Reach } from '../../outbound/outbound-address.ts';
import { createOutboundClient, type Unanswered } from '../../outbound/outbound-client.ts';

/** What came of a request. */
export type DeliveryAnswer =
  | { kind: 'answered'; status: number; retryAfterMs: number | undefined; responseHash: Buffer }
  | Unanswered;

export interface Sender {
  readonly path: string;
  readonly query: string;
  /** `mayWrite` is asked when the connection stands, just before the request is written. */
  post(
    body: string,
    headers: Record<string, string>,
    mayWrite?: () => Promise<boolean>,
  ): Promise<DeliveryAnswer>;
  /** Let go of the kept connections; requests under way are not touched. */
  close(): void;
}

/** The hash covers what was read. */
const MAX_RESPONSE_BYTES = 1_048_576;

/** Throws AddressRefusedError for an address that must not be used. */
export function createSender(
  address: string,
  limits: { maxInFlight: number; timeoutMs: number; reach: Reach },
): Sender {
  const client = createOutboundClient(address, { ...limits, maxResponseBytes: MAX_RESPONSE_BYTES });
  const { pathname, search } = client.url;
  const path = pathname + search;
  return {
    path: pathname,
    query: search.slice(1),
    async post(body, headers, mayWrite) {
      const answer = await client.send({ method: 'POST', path, headers, body, mayWrite });
      if (answer.kind === 'unanswered') return answer;
      const { kind, status, retryAfterMs, chunks } = answer;
      return { kind, status, retryAfterMs, responseHash: hash('sha256', Buffer.concat(chunks), 'buffer') };
    },
    close: client.close,
  };
}

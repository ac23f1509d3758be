/** Signs deliveries and posts them to one exchange (docs/adr/0023). Contract: EXC-8, EXC-11. */
import { hash } from 'node:crypto';
import type { Reach } from '../../outbound/outbound-address.ts';
import { createOutboundClient, type Unanswered } from '../../outbound/outbound-client.ts';
import { signRequest } from '../signing/signed-request.ts';

/** What came of a request. */
export type DeliveryAnswer =
  | { kind: 'answered'; status: number; retryAfterMs: number | undefined; responseHash: Buffer }
  | Unanswered;

export interface SignedPost {
  /** The exact text that is sent. */
  body: string;
  deliveryId: string;
  /** Fresh on every attempt; also its correlation id. */
  nonce: string;
  /** Fresh on every attempt. */
  time: Date;
  /** That signs. */
  secret: string;
  /** Asked when the connection stands, just before the request is written. */
  mayWrite?: () => Promise<boolean>;
}

export interface Sender {
  /** Rejects for a request that cannot be made. */
  post(request: SignedPost): Promise<DeliveryAnswer>;
  /** Let go of the kept connections; requests under way are not touched. */
  close(): void;
}

/** The hash covers what was read. */
const MAX_RESPONSE_BYTES = 1_048_576;

/** Throws AddressRefusedError for an address that must not be used. */
export function createSender(
  address: string,
  { clientId, ...limits }: { clientId: string; maxInFlight: number; timeoutMs: number; reach: Reach },
): Sender {
  const client = createOutboundClient(address, { ...limits, maxResponseBytes: MAX_RESPONSE_BYTES });
  const { pathname, search } = client.url;
  const method = 'POST';
  return {
    async post({ body, deliveryId, nonce, time, secret, mayWrite }) {
      const parts = { method, path: pathname, query: search.slice(1), body, clientId, time, nonce };
      const headers = {
        'content-type': 'application/json',
        'content-length': String(Buffer.byteLength(body)),
        ...signRequest(parts, secret),
        'x-idempotency-key': deliveryId,
        'x-correlation-id': nonce,
      };
      const answer = await client.send({ method, path: pathname + search, headers, body, mayWrite });
      if (answer.kind === 'unanswered') return answer;
      const { kind, status, retryAfterMs, chunks } = answer;
      return { kind, status, retryAfterMs, responseHash: hash('sha256', Buffer.concat(chunks), 'buffer') };
    },
    close: client.close,
  };
}

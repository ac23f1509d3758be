/** Signs a request to an exchange (docs/signing.md). Contract: EXC-7. */
import { createHmac, hash } from 'node:crypto';
import { canonicalRequest } from './canonical-request.ts';

export interface RequestToSign {
  method: string;
  path: string;
  query: string;
  /** The exact text that is sent, as UTF-8. */
  body: string;
  clientId: string;
  /** Fresh on every attempt. */
  time: Date;
  /** Fresh on every attempt. */
  nonce: string;
}

/** The headers that carry a signature. */
export type SignatureHeaders = Record<
  'x-client-id' | 'x-signature-time' | 'x-signature-nonce' | 'x-content-sha256' | 'x-signature',
  string
>;

/**
 * Headers that sign one request with one secret. The key is the UTF-8 bytes of the secret as it was shown.
 * Throws UnsignableRequestError when a part holds a line break.
 */
export function signRequest(request: RequestToSign, secret: string): SignatureHeaders {
  const { method, path, query, clientId, nonce } = request;
  const time = request.time.toISOString();
  const bodyHash = hash('sha256', request.body, 'hex');
  const canonical = canonicalRequest({ method, path, query, bodyHash, time, nonce, clientId });
  return {
    'x-client-id': clientId,
    'x-signature-time': time,
    'x-signature-nonce': nonce,
    'x-content-sha256': bodyHash,
    'x-signature': `v1=${createHmac('sha256', secret).update(canonical).digest('hex')}`,
  };
}

/** Signs a request to an exchange (docs/signing.md). Contract: EXC-7. */
import { createHmac, hash } from 'node:crypto';
import { canonicalRequest, type SignedParts } from './canonical-request.ts';

interface RequestToSign extends Omit<SignedParts, 'bodyHash' | 'time'> {
  /** The exact text that is sent, as UTF-8. */
  body: string;
  /** Fresh on every attempt, as the nonce is. */
  time: Date;
}

/**
 * Headers that sign one request with one secret. The key is the UTF-8 bytes of the secret as it was shown.
 * Throws UnsignableRequestError when a part holds a line break.
 */
export function signRequest(request: RequestToSign, secret: string) {
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

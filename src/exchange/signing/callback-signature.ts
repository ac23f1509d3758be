/** Checks the signature of a callback. Contract: EXC-35, SEC-15, SEC-17. */
import { createHmac, timingSafeEqual } from 'node:crypto';

const HEX_DIGEST = /^(?:sha256=)?([0-9a-fA-F]{64})$/;
const NO_DIGEST = Buffer.alloc(32);

/**
 * The index of the secret whose HMAC-SHA256 of the raw body is the header's value, or -1. The header may carry
 * `sha256=` before the hex digest. Every secret is tried whatever the header holds, so that a missing, malformed
 * and wrong signature take the same work; comparison is in constant time.
 */
export function matchingSecret(
  header: string | string[] | undefined,
  body: Uint8Array,
  secrets: readonly string[],
): number {
  const hex = typeof header === 'string' ? HEX_DIGEST.exec(header)?.[1] : undefined;
  const given = hex === undefined ? NO_DIGEST : Buffer.from(hex, 'hex');
  let found = -1;
  secrets.forEach((secret, index) => {
    const same = timingSafeEqual(createHmac('sha256', secret).update(body).digest(), given);
    if (same && hex !== undefined) found = index;
  });
  return found;
}

/**
 * The stable user id of an email address that has no account, so that verify confirms nothing.
 * Contract: SIGN-IN-5.
 */
import { createHmac } from 'node:crypto';
import { uuidOfDigest } from '../../platform/uuid.ts';

export const DECOY_PURPOSE = 'sign-in/decoy-user-id';

/** A UUIDv4 shape (RFC 9562 section 5.4) from the HMAC-SHA256 of the normalised address. */
export function decoyUserId(key: Uint8Array, normalisedEmail: string): string {
  return uuidOfDigest(createHmac('sha256', key).update(normalisedEmail).digest(), 4);
}

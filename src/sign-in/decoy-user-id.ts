/** The stable user id of an email address that has no account, so that verify confirms nothing (design 3.2). */
import { createHmac } from 'node:crypto';
import { formatUuid } from './uuid-bytes.ts';

export const DECOY_PURPOSE = 'sign-in/decoy-user-id';

/** A UUIDv4 shape (RFC 9562 section 5.4) from the HMAC-SHA256 of the normalised address. */
export function decoyUserId(key: Uint8Array, normalisedEmail: string): string {
  const bytes = createHmac('sha256', key).update(normalisedEmail).digest().subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x40, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return formatUuid(bytes);
}

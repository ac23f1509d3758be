/**
 * Tokens that callers carry: base64url of the id of the organisation, perhaps of more ids (16 bytes each), and of 32 random
 * bytes. The ids only say where to look; the random part is the secret. What is stored is a hash.
 * Contract: SEC-13.
 */
import { createHash, randomBytes } from 'node:crypto';
import { formatUuid, uuidBytes } from '../platform/uuid.ts';

const ID_BYTES = 16;
const SECRET_BYTES = 32;

export interface OrganisationToken {
  text: string;
  organisationId: string;
  /** SHA-256 of the text: what is stored. */
  hash: Buffer;
}

export function newOrganisationToken(organisationId: string, ...more: string[]): OrganisationToken {
  const bytes = Buffer.concat([...[organisationId, ...more].map(uuidBytes), randomBytes(SECRET_BYTES)]);
  const text = bytes.toString('base64url');
  return { text, organisationId, hash: hashOf(text) };
}

/** Undefined when the text is not one that {@link newOrganisationToken} could have made, with as many ids. */
export function parseOrganisationToken(
  text: string,
  moreIds = 0,
): (OrganisationToken & { more: string[] }) | undefined {
  const bytes = Buffer.from(text, 'base64url');
  const secretAt = (1 + moreIds) * ID_BYTES;
  if (bytes.length !== secretAt + SECRET_BYTES || bytes.toString('base64url') !== text) return undefined;
  const idAt = (index: number) => formatUuid(bytes.subarray(index * ID_BYTES, (index + 1) * ID_BYTES));
  const more = Array.from({ length: moreIds }, (_, index) => idAt(index + 1));
  return { text, organisationId: idAt(0), more, hash: hashOf(text) };
}

function hashOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

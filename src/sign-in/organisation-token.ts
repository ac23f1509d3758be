/**
 * Secrets that browsers carry: base64url of organisation id (16 bytes) and 32 random bytes. The id only says where to
 * look; the random part is the secret. What is stored is a hash.
 */
import { createHash, randomBytes } from 'node:crypto';
import { formatUuid, uuidBytes } from '../platform/uuid.ts';

const ID_BYTES = 16;
const SECRET_BYTES = 32;

export interface OrganisationToken {
  organisationId: string;
  /** SHA-256 of the text: what is stored. */
  hash: Buffer;
}

export function newOrganisationToken(organisationId: string): OrganisationToken & { text: string } {
  const text = Buffer.concat([uuidBytes(organisationId), randomBytes(SECRET_BYTES)]).toString('base64url');
  return { text, organisationId, hash: hash(text) };
}

/** Undefined when the text is not one that {@link newOrganisationToken} could have made. */
export function parseOrganisationToken(text: string): OrganisationToken | undefined {
  const bytes = Buffer.from(text, 'base64url');
  if (bytes.length !== ID_BYTES + SECRET_BYTES || bytes.toString('base64url') !== text) return undefined;
  return { organisationId: formatUuid(bytes.subarray(0, ID_BYTES)), hash: hash(text) };
}

function hash(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

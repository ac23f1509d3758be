/**
 * Setup links: base64url of organisation id (16 bytes) and 32 random bytes, in the fragment of a console
 * page.
 * Contract: SIGN-IN-44, SIGN-IN-45.
 */
import { createHash, randomBytes } from 'node:crypto';
import type { Queryable } from '../../platform/db/database.ts';
import { formatUuid, uuidBytes } from '../../platform/uuid.ts';
import { secondsAfter } from '../settings.ts';
import { deleteUnusedSetupLinks, insertSetupLink } from './setup-link.store.ts';

const ID_BYTES = 16;
const SECRET_BYTES = 32;
/** Beside the API: two segments up from `…/api/v1`, behind a path prefix of a proxy too. */
const PAGE = '../../console/set-password';

export interface SetupToken {
  organisationId: string;
  /** SHA-256 of the token: what is stored. */
  hash: Buffer;
}

/**
 * A new link for an account; earlier ones stop working. The token stands in the fragment, which browsers do
 * not send to servers, so that it is in no log.
 */
export async function makeSetupLink(
  db: Queryable,
  link: { organisationId: string; accountId: string; publicBaseUrl: string; now: Date; ttlSeconds: number },
): Promise<string> {
  const { organisationId, accountId, now } = link;
  const token = Buffer.concat([uuidBytes(organisationId), randomBytes(SECRET_BYTES)]).toString('base64url');
  await deleteUnusedSetupLinks(db, { organisationId }, accountId);
  const expiresAt = secondsAfter(now, link.ttlSeconds);
  await insertSetupLink(
    db,
    { organisationId },
    { tokenHash: hash(token), accountId, createdAt: now, expiresAt },
  );
  return `${new URL(PAGE, `${link.publicBaseUrl}/`).href}#token=${token}`;
}

/** Undefined when the text is not one that {@link makeSetupLink} could have made. */
export function parseSetupToken(token: string): SetupToken | undefined {
  const bytes = Buffer.from(token, 'base64url');
  if (bytes.length !== ID_BYTES + SECRET_BYTES || bytes.toString('base64url') !== token) return undefined;
  return { organisationId: formatUuid(bytes.subarray(0, ID_BYTES)), hash: hash(token) };
}

function hash(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

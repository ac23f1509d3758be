/**
 * Refresh tokens: opaque strings, base64url of organisation id (16 bytes), session id (16 bytes) and 32 random
 * bytes. The ids only say where to look; the random part is the secret (docs/adr/0005).
 * Contract: SIGN-IN-32, SEC-13.
 */
import { createHash, hkdfSync, randomBytes } from 'node:crypto';
import { openWith, sealWith } from '../../platform/crypto/key-ring.ts';
import { formatUuid, uuidBytes } from '../../platform/uuid.ts';

const ID_BYTES = 16;
const SECRET_BYTES = 32;
const TOKEN_BYTES = 2 * ID_BYTES + SECRET_BYTES;
/** Characters of a token: 64 bytes in base64url without padding. */
export const REFRESH_TOKEN_LENGTH = 86;

export interface RefreshToken {
  text: string;
  organisationId: string;
  sessionId: string;
  /** SHA-256 of the text: what is stored. */
  hash: Buffer;
}

/** What a token was exchanged for. */
export interface TokenPair {
  accessToken: string;
  refreshToken: string;
}

export function newRefreshToken(organisationId: string, sessionId: string): RefreshToken {
  const bytes = Buffer.concat([uuidBytes(organisationId), uuidBytes(sessionId), randomBytes(SECRET_BYTES)]);
  const text = bytes.toString('base64url');
  return { text, organisationId, sessionId, hash: hashToken(text) };
}

/** Undefined when the text is not one that {@link newRefreshToken} could have made. */
export function parseRefreshToken(text: string): RefreshToken | undefined {
  if (text.length !== REFRESH_TOKEN_LENGTH) return undefined;
  const bytes = Buffer.from(text, 'base64url');
  if (bytes.length !== TOKEN_BYTES || bytes.toString('base64url') !== text) return undefined;
  return {
    text,
    organisationId: formatUuid(bytes.subarray(0, ID_BYTES)),
    sessionId: formatUuid(bytes.subarray(ID_BYTES, 2 * ID_BYTES)),
    hash: hashToken(text),
  };
}

/** Seal the pair so that only the holder of the old token can open it. */
export function sealReplacement(old: RefreshToken, pair: TokenPair): Buffer {
  return sealWith(replacementKey(old), Buffer.from(JSON.stringify(pair)), context(old));
}

export function openReplacement(old: RefreshToken, sealed: Uint8Array): TokenPair {
  return JSON.parse(openWith(replacementKey(old), sealed, context(old)).toString()) as TokenPair;
}

/** HKDF (RFC 5869) over the whole token; what is stored is its hash, from which this cannot be found. */
function replacementKey(old: RefreshToken): Buffer {
  return Buffer.from(hkdfSync('sha256', old.text, '', 'interchange/refresh-replacement', 32));
}

function context(old: RefreshToken): string {
  return `${old.organisationId}/${old.sessionId}`;
}

function hashToken(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

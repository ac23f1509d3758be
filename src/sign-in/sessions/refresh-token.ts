/**
 * Refresh tokens: opaque strings that name the organisation and the session (docs/adr/0005), and the pairs that are sealed
 * under them.
 * Contract: SIGN-IN-32.
 */
import { hkdfSync } from 'node:crypto';
import { openWith, sealWith } from '../../platform/crypto/key-ring.ts';
import {
  newOrganisationToken,
  type OrganisationToken,
  parseOrganisationToken,
} from '../organisation-token.ts';

export interface RefreshToken extends OrganisationToken {
  sessionId: string;
}

/** What a token was exchanged for. */
export interface TokenPair {
  accessToken: string;
  refreshToken: string;
}

export function newRefreshToken(organisationId: string, sessionId: string): RefreshToken {
  return { ...newOrganisationToken(organisationId, sessionId), sessionId };
}

/** Undefined when the text is not one that {@link newRefreshToken} could have made. */
export function parseRefreshToken(text: string): RefreshToken | undefined {
  const token = parseOrganisationToken(text, 1);
  if (token === undefined) return undefined;
  const {
    more: [sessionId = ''],
    ...rest
  } = token;
  return { ...rest, sessionId };
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

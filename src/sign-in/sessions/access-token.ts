/**
 * Access tokens: JWT, EdDSA, `typ: at+jwt` (RFC 9068, RFC 8037, RFC 8725).
 * Contract: SIGN-IN-21, SIGN-IN-22, SEC-10, SEC-11.
 */
import { randomUUID } from 'node:crypto';
import { errors, jwtVerify, SignJWT } from 'jose';
import type { ClockWatch } from '../../platform/db/clock-watch.ts';
import { isUuid } from '../../platform/uuid.ts';
import type { TokenIdentity } from '../../tenancy/callers/caller.ts';
import { signInError } from '../errors.ts';
import type { Signer, SigningKeys } from '../keys/signing-keys.ts';
import { CLOCK_SKEW_SECONDS } from '../settings.ts';

/**
 * Names rather than addresses: nodes of one deployment may be reached at different addresses and must accept
 * one another's tokens. Keys are never shared between deployments.
 */
export const TOKEN_ISSUER = 'urn:interchange:sign-in';
export const TOKEN_AUDIENCE = 'urn:interchange:api';
const TOKEN_TYPE = 'at+jwt';
const ALGORITHM = 'EdDSA';
const CLAIMS = ['iss', 'aud', 'sub', 'sid', 'iat', 'exp', 'jti'];

export interface VerifiedToken {
  identity: TokenIdentity;
  /** Seconds since 1970; the token is good before it. */
  expiresAt: number;
}

/** Before anything else of a call that issues tokens. Throws while the clock of this node is off. */
export function assertMayIssue(clock: Pick<ClockWatch, 'isOff'>): void {
  if (clock.isOff()) throw signInError('clock');
}

/** Sign a token for a session; it ends with the session where that is earlier. */
export async function issueAccessToken(
  signer: Signer,
  token: TokenIdentity & { now: Date; ttlSeconds: number; sessionExpiresAt: Date },
): Promise<string> {
  const { kid, privateKey } = signer(token.now);
  const issuedAt = epochSeconds(token.now);
  const expiresAt = Math.min(issuedAt + token.ttlSeconds, epochSeconds(token.sessionExpiresAt));
  return new SignJWT({ sid: token.sessionId })
    .setProtectedHeader({ alg: ALGORITHM, typ: TOKEN_TYPE, kid })
    .setIssuer(TOKEN_ISSUER)
    .setAudience(TOKEN_AUDIENCE)
    .setSubject(token.accountId)
    .setIssuedAt(issuedAt)
    .setExpirationTime(expiresAt)
    .setJti(randomUUID())
    .sign(privateKey);
}

/**
 * Check signature, type, issuer, audience and time. The key is looked up by `kid` among our own; `jwk`, `jku`
 * and `x5u` of the header are never looked at (RFC 8725 section 3.10). Throws 401.
 */
export async function checkAccessToken(
  signingKeys: SigningKeys,
  token: string,
  now: Date,
): Promise<VerifiedToken> {
  if (!isSpelledAsIssued(token)) throw signInError('token_refused');
  try {
    const { payload } = await jwtVerify(token, ({ kid }) => publicKey(signingKeys, kid, now), {
      algorithms: [ALGORITHM],
      typ: TOKEN_TYPE,
      issuer: TOKEN_ISSUER,
      audience: TOKEN_AUDIENCE,
      requiredClaims: CLAIMS,
      currentDate: now,
    });
    const { sub, sid, exp, iat } = payload;
    if (typeof sub !== 'string' || typeof sid !== 'string' || exp === undefined)
      throw signInError('token_refused');
    // It was issued by the clock of the database, from which ours may differ a little.
    if (typeof iat !== 'number' || iat > epochSeconds(now) + CLOCK_SKEW_SECONDS)
      throw signInError('token_refused');
    if (!isUuid(sub) || !isUuid(sid)) throw signInError('token_refused');
    return { identity: { accountId: sub, sessionId: sid }, expiresAt: exp };
  } catch (error) {
    if (error instanceof errors.JOSEError) throw signInError('token_refused');
    throw error;
  }
}

/** The last character of a signature has bits to spare, which are zero as we write it (RFC 4648 section 3.5). */
function isSpelledAsIssued(token: string): boolean {
  const signature = token.slice(token.lastIndexOf('.') + 1);
  return Buffer.from(signature, 'base64url').toString('base64url') === signature;
}

export function epochSeconds(date: Date): number {
  return Math.floor(date.getTime() / 1_000);
}

async function publicKey(signingKeys: SigningKeys, kid: string | undefined, now: Date) {
  const key = kid === undefined ? undefined : await signingKeys.verifier(kid, now);
  if (key === undefined) throw signInError('token_refused');
  return key;
}

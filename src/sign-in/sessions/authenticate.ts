/**
 * Who an access token speaks for. A token that was checked before costs no signature check.
 * Contract: ACC-13.
 */
import { LRUCache } from 'lru-cache';
import { atMost } from '../../platform/cache-size.ts';
import type { TokenIdentity } from '../../tenancy/callers/caller.ts';
import { signInError } from '../errors.ts';
import type { SigningKeys } from '../keys/signing-keys.ts';
import { checkAccessToken, epochSeconds, type VerifiedToken } from './access-token.ts';

/** Resolves to the identity; throws 401. Whether the session still lives is for the caller of this to look up. */
type VerifyAccessToken = (token: string, now: Date) => Promise<TokenIdentity>;

const MAX_TOKENS = 10_000;

export function createAuthenticator(signingKeys: SigningKeys): VerifyAccessToken {
  const checked = new LRUCache<string, VerifiedToken>(atMost(MAX_TOKENS));
  let generation = -1;

  return async (token, now) => {
    const current = signingKeys.current();
    const set = current instanceof Promise ? await current : current;
    if (set.generation !== generation) {
      checked.clear();
      generation = set.generation;
    }
    const known = checked.get(token);
    if (known !== undefined) return stillGood(known, now);
    const verified = await checkAccessToken(signingKeys, token, now);
    // Kept only if the keys did not change meanwhile: the next call then checks it against the new ones.
    if (set.generation === generation) checked.set(token, verified);
    return verified.identity;
  };
}

function stillGood(token: VerifiedToken, now: Date): TokenIdentity {
  if (epochSeconds(now) >= token.expiresAt) throw signInError('token_refused');
  return token.identity;
}

/**
 * Refresh: a token for a new pair, once (docs/adr/0005).
 * Contract: SIGN-IN-15, SIGN-IN-27, SIGN-IN-28, SIGN-IN-29, SIGN-IN-30, SIGN-IN-31, SIGN-IN-33, SIGN-IN-34,
 * SIGN-IN-35, SIGN-IN-41.
 */

import type { ClockWatch } from '../../platform/db/clock-watch.ts';
import { type Client, type Pool, transaction } from '../../platform/db/database.ts';
import type { DatabaseTime } from '../../platform/db/database-time.ts';
import { notifyLive } from '../../tenancy/live.ts';
import type { Audit } from '../audit.ts';
import { signInError } from '../errors.ts';
import type { Signer, SigningKeys } from '../keys/signing-keys.ts';
import {
  earlier,
  REFRESH_REPEAT_SECONDS,
  replacementsUntil,
  type SignInSettings,
  secondsAfter,
} from '../settings.ts';
import { assertMayIssue, issueAccessToken } from './access-token.ts';
import type { LoginReply } from './login-reply.ts';
import {
  type Exchange,
  exchangeRefreshTokens,
  lockRefreshToken,
  type RefreshTokens,
  type StoredRefreshToken,
} from './refresh-token.store.ts';
import {
  newRefreshToken,
  openReplacement,
  parseRefreshToken,
  type RefreshToken,
  sealReplacement,
  type TokenPair,
} from './refresh-token.ts';
import { revokeSessionsOf } from './session.store.ts';

export interface RefreshDependencies {
  db: Pool;
  refreshTokens: RefreshTokens;
  signingKeys: Pick<SigningKeys, 'signer'>;
  clock: Pick<ClockWatch, 'isOff'>;
  audit: Audit;
  settings: Pick<SignInSettings, 'accessTokenSeconds' | 'refreshTokenSeconds'>;
}

/** With the keys that were read before the transaction. */
type ExchangeDependencies = Omit<RefreshDependencies, 'signingKeys'> & { signer: Signer };

type Outcome =
  | { kind: 'pair'; pair: TokenPair; stored: StoredRefreshToken }
  | { kind: 'reused'; stored: StoredRefreshToken }
  | { kind: 'refused' };

/**
 * The pair that replaces a token: a new one the first time, the same one for a repeat within the window. 401
 * for any other token; a used one that comes later ends its session. 503 while the clock of this node is off.
 */
export async function refresh(
  deps: RefreshDependencies,
  refreshToken: string,
  { databaseTime, correlationId }: { databaseTime: DatabaseTime; correlationId: string },
): Promise<LoginReply> {
  assertMayIssue(deps.clock);
  const token = parseRefreshToken(refreshToken);
  if (token === undefined) throw signInError('refresh_refused');
  // Read before the transaction, which would otherwise hold one connection while it waits for another.
  const signer = await deps.signingKeys.signer();
  const outcome = await outcomeOf({ ...deps, signer }, token, databaseTime);
  if (outcome.kind === 'reused') {
    const { organisationId, sessionId } = token;
    const { accountId } = outcome.stored;
    deps.audit('sign-in.refresh-token-reused', { correlationId, accountId, organisationId, sessionId });
  }
  if (outcome.kind !== 'pair') throw signInError('refresh_refused');
  const { userType, mustChangePassword } = outcome.stored;
  return { ...outcome.pair, userType, mustChangePassword };
}

/** Two statements, which others share, where the token is exchanged now. One that was used before takes a transaction. */
async function outcomeOf(
  deps: ExchangeDependencies,
  token: RefreshToken,
  databaseTime: DatabaseTime,
): Promise<Outcome> {
  const { db, refreshTokens } = deps;
  const wanted = { scope: token, tokenHash: token.hash, databaseTime };
  const found = await refreshTokens.read(wanted);
  const outcome = await exchange(deps, refreshTokens.exchange, { token, databaseTime }, found);
  if (outcome !== undefined) return outcome;
  // What is refused is returned, not thrown: the revocation of a session has to be committed.
  return transaction(db, async (client) => {
    const locked = await lockRefreshToken(client, wanted);
    const alone = async (kept: Exchange) =>
      (await exchangeRefreshTokens(client, token, [kept])).includes(true);
    return (await exchange(deps, alone, { token, databaseTime }, locked)) ?? repeat(client, token, locked);
  });
}

/** Undefined when it was exchanged before, its session has ended, or somebody else exchanges it now. */
async function exchange(
  { signer, settings }: ExchangeDependencies,
  keep: (exchange: Exchange) => Promise<boolean>,
  { token, databaseTime }: { token: RefreshToken; databaseTime: DatabaseTime },
  stored: StoredRefreshToken | undefined,
): Promise<Outcome | undefined> {
  if (stored === undefined || !isLive(stored)) return { kind: 'refused' };
  const { sessionId, sessionExpiresAt, accountId, now } = stored;
  if (stored.exchangedAt !== null) return undefined;
  if (stored.expiresAt <= now) return { kind: 'refused' };
  const next = newRefreshToken(token.organisationId, sessionId);
  const accessToken = await issueAccessToken(signer, {
    accountId,
    sessionId,
    now,
    ttlSeconds: settings.accessTokenSeconds,
    sessionExpiresAt,
  });
  const pair = { accessToken, refreshToken: next.text };
  const kept = await keep({
    scope: token,
    tokenHash: token.hash,
    sessionId,
    exchangedAt: databaseTime,
    sealedReplacement: sealReplacement(token, pair),
    nextHash: next.hash,
    nextExpiresAt: earlier(secondsAfter(now, settings.refreshTokenSeconds), sessionExpiresAt),
    eraseBefore: replacementsUntil(now),
  });
  return kept ? { kind: 'pair', pair, stored } : undefined;
}

function isLive({ sessionRevoked, sessionExpiresAt, accountDisabled, now }: StoredRefreshToken): boolean {
  return !sessionRevoked && sessionExpiresAt > now && !accountDisabled;
}

/**
 * The window runs from the token's own exchange, whatever has been exchanged since, by the clock of the database. A
 * pair that is gone inside the window was erased when that clock was wrong: that is no theft, so the session stays.
 */
async function repeat(
  client: Client,
  token: RefreshToken,
  stored: StoredRefreshToken | undefined,
): Promise<Outcome> {
  if (stored === undefined || stored.exchangedAt === null) return { kind: 'refused' };
  const { exchangedAt, sealedReplacement, now } = stored;
  if (now <= secondsAfter(exchangedAt, REFRESH_REPEAT_SECONDS))
    return sealedReplacement === null
      ? { kind: 'refused' }
      : { kind: 'pair', pair: openReplacement(token, sealedReplacement), stored };
  const { accountId, sessionId: only } = stored;
  await revokeSessionsOf(client, token, { accountId, reason: 'refresh-token-reuse', now, only });
  await notifyLive(client, { organisationId: token.organisationId, sessionId: stored.sessionId });
  return { kind: 'reused', stored };
}

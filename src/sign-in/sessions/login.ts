/** Login: a password for a session. Contract: SIGN-IN-34, SIGN-IN-49. */
import { randomUUID } from 'node:crypto';
import type { ClockWatch } from '../../platform/db/clock-watch.ts';
import {
  type CallContext,
  type IdentityProof,
  type ProofDependencies,
  withProvenIdentity,
} from '../credentials/prove-identity.ts';
import type { SigningKeys } from '../keys/signing-keys.ts';
import { earlier, type SignInSettings, secondsAfter } from '../settings.ts';
import { assertMayIssue, issueAccessToken } from './access-token.ts';
import type { LoginReply } from './login-reply.ts';
import { insertTokenSession } from './refresh-token.store.ts';
import { newRefreshToken } from './refresh-token.ts';
import { endOldSessions } from './session.store.ts';

export interface LoginDependencies extends ProofDependencies {
  signingKeys: SigningKeys;
  clock: Pick<ClockWatch, 'isOff'>;
  settings: Pick<SignInSettings, 'accessTokenSeconds' | 'refreshTokenSeconds' | 'sessionSeconds'>;
}

/** A new session. 403, 429 and 503 as {@link withProvenIdentity} says; 503 while the clock of this node is off. */
export async function login(
  deps: LoginDependencies,
  proof: IdentityProof,
  context: CallContext,
): Promise<LoginReply> {
  assertMayIssue(deps.clock);
  const sessionId = randomUUID();
  const { account, reply } = await withProvenIdentity(deps, proof, context, {
    async prepare({ id }, { now }) {
      const expiresAt = secondsAfter(now, deps.settings.sessionSeconds);
      const accessToken = await issueAccessToken(await deps.signingKeys.signer(), {
        accountId: id,
        sessionId,
        now,
        ttlSeconds: deps.settings.accessTokenSeconds,
        sessionExpiresAt: expiresAt,
      });
      return { accessToken, now, expiresAt };
    },
    async commit(client, proven, { accessToken, now, expiresAt }) {
      const refreshToken = newRefreshToken(proven.organisationId, sessionId);
      const tokenExpiresAt = earlier(secondsAfter(now, deps.settings.refreshTokenSeconds), expiresAt);
      const session = { id: sessionId, accountId: proven.id, createdAt: now, expiresAt };
      await insertTokenSession(client, proven, {
        session,
        token: { hash: refreshToken.hash, expiresAt: tokenExpiresAt },
      });
      await endOldSessions(client, proven, session);
      const { userType, mustChangePassword } = proven;
      return {
        account: proven,
        reply: { accessToken, refreshToken: refreshToken.text, userType, mustChangePassword },
      };
    },
  });
  const { organisationId } = account;
  const { correlationId } = context;
  deps.audit('sign-in.succeeded', { correlationId, accountId: account.id, organisationId, sessionId });
  return reply;
}

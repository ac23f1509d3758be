/**
 * Signing in at the console with an email address and a password: the first step, or all of it. The session that the
 * browser had until now ends.
 * Contract: SIGN-IN-50, SIGN-IN-51, SIGN-IN-56, SIGN-IN-57, SIGN-IN-58, SIGN-IN-74.
 */
import { randomUUID } from 'node:crypto';
import type { Client } from '../../platform/db/database.ts';
import type { ConsoleStage } from '../../tenancy/callers/caller.ts';
import { notifyLive } from '../../tenancy/live.ts';
import { findByEmail } from '../accounts/account.store.ts';
import { normaliseEmail } from '../accounts/email.ts';
import { decoyUserId } from '../credentials/decoy-user-id.ts';
import {
  type CallContext,
  type ProofDependencies,
  withProvenIdentity,
} from '../credentials/prove-identity.ts';
import { networkOf } from '../lockout/network.ts';
import { newOrganisationToken, parseOrganisationToken } from '../organisation-token.ts';
import { consoleStageOf, methodsOf, type SecondFactorMethod } from '../second-factor/second-factor.ts';
import { endOldSessions } from '../sessions/session.store.ts';
import { insertConsoleSession, revokeSessionOfToken } from './console-session.store.ts';
import { endsOf, type SessionEndSettings } from './session-ends.ts';

export interface StartSessionDependencies extends ProofDependencies {
  decoyKey: Uint8Array;
  settings: SessionEndSettings;
}

export interface StartedSession {
  /** For the cookie. */
  token: string;
  state: ConsoleStage;
  /** Where a second factor is asked for. */
  methods?: SecondFactorMethod[];
}

const USER_AGENT_LENGTH = 400;

/** 403, 429 and 503 as {@link withProvenIdentity} says. An unknown address is locked like a known one. */
export async function startSession(
  deps: StartSessionDependencies,
  { email, password, cookie }: { email: string; password: string; cookie?: string | undefined },
  context: CallContext & { userAgent: string },
): Promise<StartedSession> {
  const address = normaliseEmail(email);
  const decoy = decoyUserId(deps.decoyKey, address);
  const entry = await findByEmail(deps.db, address);
  const sessionId = randomUUID();
  const proof = { identity: entry?.userId ?? decoy, credential: password, userType: 'STAFF' };
  const { account, started, replaced } = await withProvenIdentity(deps, proof, context, {
    isFirstStep: true,
    prepare: async (_, { now }) => now,
    async commit(client, proven, now) {
      const token = newOrganisationToken(proven.organisationId);
      const state = consoleStageOf(proven, { proven: false });
      const ends = endsOf(state, now, deps.settings);
      const session = { id: sessionId, accountId: proven.id, createdAt: now, ...ends };
      await insertConsoleSession(client, proven, {
        ...session,
        tokenHash: token.hash,
        userAgent: printable(context.userAgent).slice(0, USER_AGENT_LENGTH),
        network: networkOf(context.remoteAddress),
      });
      // Whoever has the password alone could else end the sessions of the person who has both.
      if (state !== 'second-factor') await endOldSessions(client, proven, session);
      const replaced = await endSessionOf(client, cookie, now);
      const methods = state === 'second-factor' ? { methods: methodsOf(proven) } : {};
      return { account: proven, replaced, started: { token: token.text, state, ...methods } };
    },
  });
  const { organisationId, id: accountId } = account;
  const { correlationId } = context;
  if (replaced !== undefined) deps.audit('sign-in.logged-out', { correlationId, ...replaced });
  deps.audit(started.state === 'second-factor' ? 'sign-in.second-factor-asked' : 'sign-in.succeeded', {
    correlationId,
    accountId,
    organisationId,
    sessionId,
  });
  return started;
}

/** Operators read it on a terminal, which would do what control characters say. */
function printable(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, '');
}

/** Nobody could end it any more but by waiting: the browser forgets its cookie. Perhaps of another account. */
async function endSessionOf(client: Client, cookie: string | undefined, now: Date) {
  const token = parseOrganisationToken(cookie ?? '');
  if (token === undefined) return undefined;
  const { organisationId, hash: tokenHash } = token;
  const ended = await revokeSessionOfToken(client, token, { tokenHash, now });
  if (ended === undefined) return undefined;
  await notifyLive(client, { organisationId, sessionId: ended.sessionId });
  return { ...ended, organisationId };
}

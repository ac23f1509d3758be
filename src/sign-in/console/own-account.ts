/**
 * The sessions of whoever is signed in, those of tokens among them, and the end of one; another password.
 * Contract: SIGN-IN-68, SIGN-IN-69, SIGN-IN-77.
 */
import { type Pool, transaction } from '../../platform/db/database.ts';
import { readDatabaseTime } from '../../platform/db/database-time.ts';
import { isUuid } from '../../platform/uuid.ts';
import { notFound } from '../../tenancy/errors.ts';
import { notifyLive } from '../../tenancy/live.ts';
import { type LiveSession, listLiveSessions } from '../administration/account-sessions.store.ts';
import { LISTED_AT_MOST } from '../administration/account-sessions.ts';
import type { Audit } from '../audit.ts';
import { changePassword } from '../credentials/change-password.ts';
import { idsOf, type OwnCall, type ProofDependencies, passwordProof } from '../credentials/prove-identity.ts';
import { newOrganisationToken } from '../organisation-token.ts';
import { revokeSessionsOf } from '../sessions/session.store.ts';

export type OwnSession = Omit<LiveSession, 'expiresAt'> & { current: boolean };

/** Live ones, the one that was used last first; of many, those that began last. */
export async function readOwnSessions(
  db: Pool,
  { caller, databaseTime }: Pick<OwnCall, 'caller' | 'databaseTime'>,
): Promise<{ items: OwnSession[]; more: boolean }> {
  const { accountId, sessionId } = caller;
  const limit = LISTED_AT_MOST + 1;
  const sessions = await listLiveSessions(db, caller, { accountId, databaseTime, limit });
  const items = sessions
    .slice(0, LISTED_AT_MOST)
    .sort((one, other) => other.lastUsedAt.getTime() - one.lastUsedAt.getTime())
    .map(({ expiresAt: _, ...session }) => ({ ...session, current: session.id === sessionId }));
  return { items, more: sessions.length > items.length };
}

/** 404 for a session of somebody else, and for one that has ended. */
export async function endOwnSession(
  { db, audit }: { db: Pool; audit: Audit },
  sessionId: string,
  call: OwnCall,
): Promise<void> {
  const { caller } = call;
  const { organisationId, accountId } = caller;
  if (!isUuid(sessionId)) throw notFound('The session');
  await transaction(db, async (client) => {
    const now = await readDatabaseTime(client, call.databaseTime);
    const ending = { accountId, only: sessionId, reason: 'ended-by-owner', now } as const;
    if ((await revokeSessionsOf(client, caller, ending)) === 0) throw notFound('The session');
    await notifyLive(client, { organisationId, sessionId });
  });
  audit('sign-in.session-ended', { ...idsOf(call), sessionId });
}

/** The session goes on; its token from now on. Refuses as {@link changePassword} does. */
export async function changeOwnPassword(
  deps: ProofDependencies,
  { password, newPassword }: { password: string; newPassword: string },
  call: OwnCall,
): Promise<string> {
  const { caller } = call;
  const { text, hash: tokenHash } = newOrganisationToken(caller.organisationId);
  const change = { ...passwordProof(caller, password), newCredential: newPassword };
  await changePassword(deps, change, call, { sessionId: caller.sessionId, tokenHash });
  return text;
}

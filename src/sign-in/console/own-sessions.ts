/** The sessions of whoever is signed in, and the end of one. Contract: SIGN-IN-68. */
import { type Pool, transaction } from '../../platform/db/database.ts';
import { readDatabaseTime } from '../../platform/db/database-time.ts';
import { isUuid } from '../../platform/uuid.ts';
import type { Caller } from '../../tenancy/callers/caller.ts';
import { tenancyError } from '../../tenancy/errors.ts';
import { notifyLive } from '../../tenancy/live.ts';
import type { Audit } from '../audit.ts';
import type { CallContext } from '../credentials/prove-identity.ts';
import { listOwnSessions, type OwnSession, revokeOwnSession } from './own-sessions.store.ts';

export async function readOwnSessions(
  db: Pool,
  caller: Caller,
  { databaseTime }: Pick<CallContext, 'databaseTime'>,
): Promise<(OwnSession & { current: boolean })[]> {
  const sessions = await listOwnSessions(db, caller, { accountId: caller.accountId, databaseTime });
  return sessions.map((session) => ({ ...session, current: session.id === caller.sessionId }));
}

/** 404 for a session of somebody else, and for one that has ended. */
export async function endOwnSession(
  { db, audit }: { db: Pool; audit: Audit },
  { caller, sessionId }: { caller: Caller; sessionId: string },
  { databaseTime, correlationId }: CallContext,
): Promise<void> {
  const { organisationId, accountId } = caller;
  const now = await readDatabaseTime(db, databaseTime);
  const ended = await transaction(db, async (client) => {
    const known =
      isUuid(sessionId) && (await revokeOwnSession(client, caller, { accountId, sessionId, now }));
    if (known) await notifyLive(client, { organisationId, sessionId });
    return known;
  });
  if (!ended) throw tenancyError('not_found', { record: 'The session' });
  audit('sign-in.session-ended', { correlationId, accountId, organisationId, sessionId });
}

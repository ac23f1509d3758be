/** Logout: the session ends at once on every node. Contract: SIGN-IN-37, SIGN-IN-38. */
import { type Pool, transaction } from '../../platform/db/database.ts';
import type { Caller } from '../../tenancy/callers/caller.ts';
import { notifyLive } from '../../tenancy/live.ts';
import type { Audit } from '../audit.ts';
import { revokeSessionsOf } from './session.store.ts';

export async function logout(
  { db, audit }: { db: Pool; audit: Audit },
  { organisationId, sessionId, accountId }: Pick<Caller, 'organisationId' | 'sessionId' | 'accountId'>,
  { now, correlationId }: { now: Date; correlationId: string },
): Promise<void> {
  await transaction(db, async (client) => {
    await revokeSessionsOf(client, { organisationId }, { accountId, reason: 'logout', now, only: sessionId });
    await notifyLive(client, { organisationId, sessionId });
  });
  audit('sign-in.logged-out', { correlationId, accountId, organisationId, sessionId });
}

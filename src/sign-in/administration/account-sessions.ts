/** Lists the live sessions of an account, and ends one or all. Contract: ADM-10, ADM-19. */
import type { Pool } from '../../platform/db/database.ts';
import { type DatabaseTime, readDatabaseTime } from '../../platform/db/database-time.ts';
import { everyPage, openPage, type Page, type PageRequest, type Slice } from '../../platform/http/paging.ts';
import { notFound } from '../../tenancy/errors.ts';
import { revokeSessionsOf } from '../sessions/session.store.ts';
import {
  hasSession,
  type LiveSession,
  listLiveSessions,
  type SessionPosition,
} from './account-sessions.store.ts';
import { type ListAccountsDependencies, type ListContext, readSeenAccount } from './list-accounts.ts';
import { type AccountChange, changeManagedAccount, recordAccount, requireEntry } from './managed-account.ts';

/** 404 for an account that the caller does not see. */
export async function listSessionsOf(
  deps: ListAccountsDependencies,
  context: ListContext,
  { accountId, ...request }: PageRequest & { accountId: string },
): Promise<Page<LiveSession>> {
  const { caller, databaseTime } = context;
  const { userId } = await readSeenAccount(deps, context, accountId);
  const page = openPage<SessionPosition>(deps.cursors, request, ['sessions', caller.organisationId, userId]);
  const query = { ...page.slice, accountId: userId, databaseTime };
  const found = await listLiveSessions(deps.db, caller, query);
  return page.close(found, sessionPosition);
}

/** More than somebody looks at. A system that signs in for each call has more. */
export const LISTED_AT_MOST = 1_000;

/** All of them. Throws `unknown_account`. */
export async function listSessionsForOperator(db: Pool, key: { email: string }): Promise<LiveSession[]> {
  const entry = await requireEntry(db, key);
  const read = (slice: Slice<SessionPosition>) =>
    listLiveSessions(db, entry, { ...slice, accountId: entry.userId, databaseTime: null });
  return (await Array.fromAsync(everyPage(LISTED_AT_MOST, read, sessionPosition))).flat();
}

const sessionPosition = ({ createdAt, id }: LiveSession): SessionPosition => [createdAt.toISOString(), id];

export interface SessionEnding extends AccountChange {
  /** Left out: all. */
  sessionId?: string | undefined;
}

/** How many were ended; one that had ended stays so. 404 for a session that is not of the account. */
export async function endSessionsOf(
  db: Pool,
  { sessionId, ...change }: SessionEnding,
  databaseTime: DatabaseTime,
): Promise<number> {
  return changeManagedAccount(db, change, async (client, account) => {
    const accountId = account.userId;
    if (sessionId !== undefined && !(await hasSession(client, account, { accountId, sessionId })))
      throw notFound('The session');
    const reason = 'ended-by-administrator';
    // Behind the lock: a session that began while it was waited for ends after it began.
    const now = await readDatabaseTime(client, databaseTime);
    const ended = await revokeSessionsOf(client, account, { accountId, reason, now, only: sessionId });
    if (ended > 0)
      await recordAccount(client, account, change.author, {
        action: 'account.end-sessions',
        after: { sessions: ended, sessionId },
      });
    return ended;
  });
}

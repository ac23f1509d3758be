/**
 * Whose session a cookie proves. Each call asks the database, so that the end of a session is exact, and its use moves the
 * idle end ahead, unless the page made it by itself.
 * Contract: SIGN-IN-52, SIGN-IN-53, SIGN-IN-54, SIGN-IN-75.
 */
import type { Queryable } from '../../platform/db/database.ts';
import type { DatabaseTime } from '../../platform/db/database-time.ts';
import type { RequestHeaders } from '../../platform/http/route.ts';
import type { TokenIdentity } from '../../tenancy/callers/caller.ts';
import { signInError } from '../errors.ts';
import { parseOrganisationToken } from '../organisation-token.ts';
import { consoleStageOf } from '../second-factor/second-factor.ts';
import { earlier, type SignInSettings, secondsAfter } from '../settings.ts';
import type { ConsoleCookie } from './console-cookie.ts';
import { isMadeByItself } from './console-header.ts';
import { findConsoleSession, moveIdleEnd } from './console-session.store.ts';

/** With the stage; throws 401. */
export type IdentifyConsole = (headers: RequestHeaders, databaseTime: DatabaseTime) => Promise<TokenIdentity>;

/** The idle end is written at most this often. A session in use may end earlier by this time, and by no more. */
const TOUCH_SECONDS = 60;
/** Of the idle time, where that is short: it is written after this part of it. */
const TOUCH_PART = 1 / 30;

export function createConsoleIdentifier(
  db: Queryable,
  cookie: ConsoleCookie,
  { consoleIdleSeconds }: Pick<SignInSettings, 'consoleIdleSeconds'>,
): IdentifyConsole {
  const touchSeconds = Math.min(TOUCH_SECONDS, consoleIdleSeconds * TOUCH_PART);
  return async (headers, databaseTime) => {
    const token = parseOrganisationToken(cookie.read(headers) ?? '');
    if (token === undefined) throw signInError('not_signed_in');
    const session = await findConsoleSession(db, token, { tokenHash: token.hash, databaseTime });
    if (session === undefined) throw signInError('not_signed_in');
    const { sessionId, accountId, now, lastUsedAt, endsAt } = session;
    const stage = consoleStageOf(session, session);
    const isDue = now >= secondsAfter(lastUsedAt, touchSeconds);
    if (stage === 'signed-in' && isDue && !isMadeByItself(headers))
      await moveIdleEnd(db, token, {
        sessionId,
        now,
        expiresAt: earlier(secondsAfter(now, consoleIdleSeconds), endsAt),
      });
    return { accountId, sessionId, stage };
  };
}

/** When a session of the console ends, and what finishes its sign-in. Contract: SIGN-IN-51, SIGN-IN-53, SIGN-IN-57. */
import type { Client } from '../../platform/db/database.ts';
import type { Caller, ConsoleStage } from '../../tenancy/callers/caller.ts';
import { signInError } from '../errors.ts';
import { newOrganisationToken } from '../organisation-token.ts';
import { readCreation } from '../sessions/session.store.ts';
import { earlier, type SignInSettings, secondsAfter } from '../settings.ts';
import { raiseSession } from './console-session.store.ts';

export type SessionEndSettings = Pick<SignInSettings, 'consoleIdleSeconds' | 'consoleSessionSeconds'>;

/** How long there is to finish a sign-in. */
const UNFINISHED_SECONDS = 5 * 60;

/** The idle end and the absolute end of a session that reaches a stage. */
export function endsOf(
  stage: ConsoleStage,
  now: Date,
  { consoleIdleSeconds, consoleSessionSeconds }: SessionEndSettings,
): { expiresAt: Date; endsAt: Date } {
  const isFinished = stage === 'signed-in';
  const endsAt = secondsAfter(now, isFinished ? consoleSessionSeconds : UNFINISHED_SECONDS);
  // No call moves the idle end of a sign-in that is not finished, so it has none of its own.
  return { endsAt, expiresAt: isFinished ? earlier(secondsAfter(now, consoleIdleSeconds), endsAt) : endsAt };
}

/**
 * The token of a session whose second factor is proven by now. 401 where it has ended, or was finished already. Its absolute
 * end counts from the sign-in: a factor may be added long after.
 */
export async function finishSession(
  client: Client,
  caller: Pick<Caller, 'organisationId' | 'sessionId'>,
  { now, settings }: { now: Date; settings: SessionEndSettings },
): Promise<string> {
  const { text, hash: tokenHash } = newOrganisationToken(caller.organisationId);
  const { sessionId } = caller;
  const createdAt = await readCreation(client, caller, sessionId);
  if (createdAt === undefined) throw signInError('not_signed_in');
  const endsAt = secondsAfter(createdAt, settings.consoleSessionSeconds);
  const expiresAt = earlier(secondsAfter(now, settings.consoleIdleSeconds), endsAt);
  const step = { sessionId, tokenHash, now, expiresAt, endsAt };
  if (!(await raiseSession(client, caller, step))) throw signInError('not_signed_in');
  return text;
}

/** When a session of the console ends. Contract: SIGN-IN-53, SIGN-IN-57. */
import type { ConsoleStage } from '../../tenancy/callers/caller.ts';
import { earlier, type SignInSettings, secondsAfter } from '../settings.ts';

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

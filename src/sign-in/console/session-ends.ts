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
  const endsAt = secondsAfter(now, stage === 'signed-in' ? consoleSessionSeconds : UNFINISHED_SECONDS);
  return { endsAt, expiresAt: earlier(secondsAfter(now, consoleIdleSeconds), endsAt) };
}

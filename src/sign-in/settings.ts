/**
 * The numbers of sign-in; `docs/environment.md` names those that an operator may change.
 * Contract: SIGN-IN-14, SIGN-IN-33, SIGN-IN-53.
 */

export interface SignInSettings {
  /** Failures within the window that lock an identity. */
  lockFailures: number;
  lockWindowSeconds: number;
  lockSeconds: number;
  /** Password hashes computed at once, and waiting at most; past both, 503. */
  hashConcurrency: number;
  hashQueue: number;
  accessTokenSeconds: number;
  refreshTokenSeconds: number;
  /** A session ends this long after its login, whatever is refreshed. */
  sessionSeconds: number;
  /** A session of the console ends this long after its last call. */
  consoleIdleSeconds: number;
  /** A session of the console ends this long after its sign-in, whatever is done in it. */
  consoleSessionSeconds: number;
}

export const DEFAULT_SIGN_IN_SETTINGS: SignInSettings = {
  lockFailures: 5,
  lockWindowSeconds: 900,
  lockSeconds: 900,
  hashConcurrency: 2,
  hashQueue: 32,
  accessTokenSeconds: 900,
  refreshTokenSeconds: 30 * 86_400,
  sessionSeconds: 90 * 86_400,
  consoleIdleSeconds: 30 * 60,
  consoleSessionSeconds: 12 * 3_600,
};

/** How long a repeat of an exchanged refresh token answers with the same pair. */
export const REFRESH_REPEAT_SECONDS = 60;

/** The clock of a process may differ from the database's by this much. What is judged by that clock allows for it. */
export const CLOCK_SKEW_SECONDS = 60;

/** Sealed pairs of tokens exchanged before this are of no use to anybody, whichever clock is right. */
export function replacementsUntil(now: Date): Date {
  return secondsAfter(now, -(REFRESH_REPEAT_SECONDS + CLOCK_SKEW_SECONDS));
}

export function earlier(one: Date, other: Date): Date {
  return one < other ? one : other;
}

/** `now` moved by seconds. */
export function secondsAfter(now: Date, seconds: number): Date {
  return new Date(now.getTime() + seconds * 1_000);
}

/** When a delivery is tried again, and what an answer means. Contract: EXC-16, EXC-17, EXC-18. */

export interface RetrySettings {
  /** Before each further try, in ms. After the last of them the delivery is held. */
  delaysMs: readonly number[];
  /** Each delay is spread by this part of it to either side. */
  jitter: number;
  /** `retry-after` is honoured up to this. */
  maxRetryAfterMs: number;
}

export const RETRY: RetrySettings = {
  delaysMs: [5_000, 30_000, 120_000, 600_000, 1_800_000, 7_200_000, 18_000_000, 36_000_000],
  jitter: 0.2,
  maxRetryAfterMs: 86_400_000,
};

const RETRIED_CLIENT_ERRORS = [401, 403, 404, 408, 409, 425, 429];

/** What an HTTP status says: taken, refused for good, or to be tried again. */
export function meaningOf(status: number): 'delivered' | 'refused' | 'failed' {
  if (status >= 200 && status < 300) return 'delivered';
  const final = status >= 400 && status < 500 && !RETRIED_CLIENT_ERRORS.includes(status);
  return final ? 'refused' : 'failed';
}

/**
 * Milliseconds until the next try after `attempts` counted tries, the last included; undefined when there is
 * none left. `random` is in [0, 1).
 */
export function retryDelay(
  settings: RetrySettings,
  attempts: number,
  { retryAfterMs, random }: { retryAfterMs: number | undefined; random: number },
): number | undefined {
  const delay = settings.delaysMs[attempts - 1];
  if (delay === undefined) return undefined;
  const spread = delay * (1 + settings.jitter * (2 * random - 1));
  return Math.round(Math.max(spread, honoured(settings, retryAfterMs)));
}

/** How much of `retry-after` is honoured, in ms. */
export function honoured({ maxRetryAfterMs }: RetrySettings, retryAfterMs: number | undefined): number {
  return Math.min(retryAfterMs ?? 0, maxRetryAfterMs);
}

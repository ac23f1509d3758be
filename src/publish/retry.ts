/** When a request to a target is tried again (design 3.5). */

/** Time as this feature uses it; a test's own passes without waiting. */
export interface Clock {
  /** Milliseconds on a clock that only goes forward. */
  nowMs(): number;
  sleep(ms: number): Promise<void>;
}

export interface RetrySettings {
  /** Of one resource, from its first failure on: no request is tried again after it. */
  budgetMs: number;
  /** Before the second try; doubled for each further one. */
  firstDelayMs: number;
  maxDelayMs: number;
  /** In [0, 1). */
  random: () => number;
}

export const RETRY: RetrySettings = {
  budgetMs: 30_000,
  firstDelayMs: 250,
  maxDelayMs: 8_000,
  random: Math.random,
};

/** Whether a status says that the same request may do later. */
export function isTransient(status: number): boolean {
  return status === 408 || status === 429 || (status >= 500 && status !== 501);
}

/**
 * Milliseconds to wait after `tries` tries, between half and the whole of the doubled delay, or as long as
 * `retry-after` says; undefined when the next try would begin after the budget.
 */
export function delayAfter(
  settings: RetrySettings,
  tries: number,
  { spentMs, retryAfterMs }: { spentMs: number; retryAfterMs: number | undefined },
): number | undefined {
  const full = Math.min(settings.maxDelayMs, settings.firstDelayMs * 2 ** (tries - 1));
  const delay = Math.max(full * (0.5 + settings.random() / 2), retryAfterMs ?? 0);
  return spentMs + delay > settings.budgetMs ? undefined : delay;
}

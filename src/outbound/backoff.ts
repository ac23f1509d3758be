/** When a failed request is tried again: delays that grow, are spread, and follow `retry-after`. Contract: EXC-17. */

/** The delay after one failure, and the longest. */
export interface GrowingDelay {
  firstMs: number;
  maxMs: number;
}

/** Milliseconds to wait after so many failures in a row: the delay doubles with each. */
export function delayAfterFailures({ firstMs, maxMs }: GrowingDelay, failures: number): number {
  return Math.min(maxMs, firstMs * 2 ** (failures - 1));
}

/**
 * Between `from` and `to` times the delay, so that requests that failed at the same time are not all tried again at the
 * same time. `random` is in [0, 1).
 */
export function spreadDelay(
  delayMs: number,
  { from, to }: { from: number; to: number },
  random: number,
): number {
  return delayMs * (from + (to - from) * random);
}

/** What every reader of delta-seconds can hold (RFC 9111 section 1.2.2): callers may be told it. */
const LONGEST_MS = (2 ** 31 - 1) * 1_000;

/** `retry-after` (RFC 9110 section 10.2.3) as milliseconds from `now`; undefined when it is neither form. */
export function parseRetryAfter(value: string | undefined, now: Date): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d+$/.test(value.trim())) return Math.min(Number(value) * 1_000, LONGEST_MS);
  const at = parseHttpDate(value.trim());
  return Number.isNaN(at) ? undefined : Math.min(Math.max(0, at - now.getTime()), LONGEST_MS);
}

const WITH_ZONE =
  /^[A-Z][a-z]+, \d{1,2}[ -][A-Z][a-z]{2}[ -]\d{2,4} \d{2}:\d{2}:\d{2} (?:GMT|UTC|[+-]\d{4})$/;
const ASCTIME = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/;

/**
 * The three forms of an HTTP date (RFC 9110 section 5.6.7) in ms, else NaN. `Date.parse` alone finds a year in `sec 120`,
 * and takes the form without a zone for local time.
 */
function parseHttpDate(text: string): number {
  if (ASCTIME.test(text)) return Date.parse(`${text} GMT`);
  return WITH_ZONE.test(text) ? Date.parse(text) : Number.NaN;
}

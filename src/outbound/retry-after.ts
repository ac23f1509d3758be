/** The header `retry-after` of an answer (RFC 9110 section 10.2.3). Contract: EXC-17. */

/** `retry-after` as milliseconds from `now`; undefined when it is neither form. */
export function parseRetryAfter(value: string | undefined, now: Date): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d{1,9}$/.test(value.trim())) return Number(value) * 1_000;
  const at = /[A-Za-z]{3}/.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - now.getTime());
}

/** Timestamps as PostgreSQL writes them, kept as text: a JavaScript Date would drop the microseconds. */

/** `timestamptz::text` of a connection in UTC (`2024-01-31 10:00:00.123456+00`) as an ISO 8601 instant. */
export function instantFromTimestamp(text: string): string {
  return `${text.slice(0, -3).replace(' ', 'T')}Z`;
}

/** An instant as PostgreSQL reads it; beyond the years that FHIR can write, infinity. */
export function timestampFromDate(date: Date): string {
  const year = date.getUTCFullYear();
  if (year > 9999) return 'infinity';
  return year < 1 ? '-infinity' : date.toISOString();
}

/** What PostgreSQL writes for `timestamptz::text`, in UTC, of an instant as `toISOString` writes it. */
export function timestampText(instant: string): string {
  const [day = '', time = ''] = instant.slice(0, -1).split('T');
  const [seconds = '', milliseconds = ''] = time.split('.');
  const fraction = milliseconds.replace(/0+$/, '');
  return `${day} ${seconds}${fraction === '' ? '' : `.${fraction}`}+00`;
}

/** What PostgreSQL writes for `extract(epoch from …)::text` of an instant: seconds, always with six decimals. */
export function epochText(instant: string): string {
  const ms = Date.parse(instant);
  const [whole, rest] = [Math.trunc(Math.abs(ms) / 1_000), Math.abs(ms) % 1_000];
  return `${ms < 0 ? '-' : ''}${whole}.${String(rest).padStart(3, '0')}000`;
}

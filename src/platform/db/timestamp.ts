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

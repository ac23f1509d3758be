/** Timestamps as PostgreSQL writes them, kept as text: a JavaScript Date would drop the microseconds. */

/** `timestamptz::text` of a connection in UTC (`2024-01-31 10:00:00.123456+00`) as an ISO 8601 instant. */
export function instantFromTimestamp(text: string): string {
  return `${text.slice(0, -3).replace(' ', 'T')}Z`;
}

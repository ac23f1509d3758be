/** Conditional requests (RFC 9110, sections 8.8.3 and 13.1.2). Contract: ENC-32. */

/** The weak validator of a version. */
export function weakEtag(version: number): string {
  return `W/"${version}"`;
}

/** Whether `If-None-Match` names this entity tag: `*`, or a list compared weakly. */
export function matchesEtag(ifNoneMatch: string | string[] | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  const text = String(ifNoneMatch).trim();
  if (text === '*') return true;
  const opaque = etag.slice(etag.indexOf('"'));
  return Array.from(text.matchAll(/"[^"]*"/g)).some(([tag]) => tag === opaque);
}

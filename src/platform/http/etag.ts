/** Conditional requests (RFC 9110, sections 8.8.3 and 13.1.2). Contract: ENC-32. */

/** The weak validator of a version. `variant` tells apart answers of one version; it holds letters and digits only. */
export function weakEtag(version: number, variant?: string): string {
  return variant === undefined ? `W/"${version}"` : `W/"${version}-${variant}"`;
}

/** Whether `If-None-Match` names this entity tag: `*`, or a list compared weakly. */
export function matchesEtag(ifNoneMatch: string | string[] | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  const text = String(ifNoneMatch).trim();
  if (text === '*') return true;
  const opaque = etag.slice(etag.indexOf('"'));
  return Array.from(text.matchAll(/"[^"]*"/g)).some(([tag]) => tag === opaque);
}

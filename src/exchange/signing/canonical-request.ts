/**
 * The text that an outbound signature covers (docs/signing.md).
 * Contract: EXC-9, EXC-10, EXC-12, SEC-15, SEC-16.
 */

export interface SignedParts {
  /** Upper case, as sent. */
  method: string;
  /** Path of the request target, percent-encoded as sent. */
  path: string;
  /** What stands after `?` in the request target, percent-encoded as sent; empty when there is none. */
  query: string;
  /** SHA-256 of the body bytes, lower-case hex. */
  bodyHash: string;
  /** ISO 8601 UTC. */
  time: string;
  nonce: string;
  clientId: string;
}

/** A part holds a line break, so that two different requests could have one canonical text. */
export class UnsignableRequestError extends Error {
  override name = 'UnsignableRequestError';
  readonly code = 'unsignable_request';
}

/** `v1`, method, path, sorted query, body hash, time, nonce and client id, joined by `\n`. */
export function canonicalRequest(parts: SignedParts): string {
  const { method, path, query, bodyHash, time, nonce, clientId } = parts;
  const lines = ['v1', method, path, sortQuery(query), bodyHash, time, nonce, clientId];
  for (const line of lines) {
    if (line.includes('\n') || line.includes('\r'))
      throw new UnsignableRequestError(
        'A part of the request to sign contains a line break. Remove CR and LF from it.',
      );
  }
  return lines.join('\n');
}

/** Parameters ordered by name, then by value, byte by byte; each stays as it was sent. */
export function sortQuery(query: string): string {
  return query.includes('&') ? query.split('&').sort(byNameThenValue).join('&') : query;
}

function byNameThenValue(left: string, right: string): number {
  const [leftName, leftValue] = nameAndValue(left);
  const [rightName, rightValue] = nameAndValue(right);
  return compare(leftName, rightName) || compare(leftValue, rightValue) || compare(left, right);
}

function nameAndValue(parameter: string): [string, string] {
  const at = parameter.indexOf('=');
  return at === -1 ? [parameter, ''] : [parameter.slice(0, at), parameter.slice(at + 1)];
}

function compare(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

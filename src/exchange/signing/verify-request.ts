/** The receiver's check of a signed request: what an exchange does, and what the simulator runs (docs/signing.md). */
import { createHmac, hash, timingSafeEqual } from 'node:crypto';
import { canonicalRequest } from './canonical-request.ts';

export interface ReceivedRequest {
  method: string;
  /** Path and query as they stood in the request line. */
  target: string;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: Uint8Array;
}

export interface ReceiverCheck {
  clientId: string;
  /** Every secret that is good now: two while one is being rotated. */
  secrets: readonly string[];
  now: Date;
  /** Signing times further from `now` than this are stale. */
  toleranceMs: number;
  /** True the first time that a nonce is seen within the tolerance. Called only after the signature held. */
  firstUse: (nonce: string) => boolean;
}

export type Verdict = 'valid' | 'missing' | 'stale' | 'wrong-body' | 'wrong-signature' | 'replayed';

/** Check client id, time, body hash, signature and nonce of one request. */
export function verifyRequest(request: ReceivedRequest, check: ReceiverCheck): Verdict {
  const header = (name: string) => single(request.headers[name]);
  const time = header('x-signature-time');
  const nonce = header('x-signature-nonce');
  const bodyHash = header('x-content-sha256');
  const signature = /^v1=([0-9a-f]{64})$/.exec(header('x-signature') ?? '')?.[1];
  if (!time || !nonce || !bodyHash || !signature || header('x-client-id') !== check.clientId)
    return 'missing';
  const age = Math.abs(check.now.getTime() - Date.parse(time));
  if (!(age <= check.toleranceMs)) return 'stale';
  if (hash('sha256', request.body, 'hex') !== bodyHash) return 'wrong-body';
  const [path, query] = split(request.target);
  const { method } = request;
  const { clientId } = check;
  if (/[\r\n]/.test(method + request.target + time + nonce)) return 'wrong-signature';
  const canonical = canonicalRequest({ method, path, query, bodyHash, time, nonce, clientId });
  const good = check.secrets.map((secret) => matches(secret, canonical, signature)).includes(true);
  if (!good) return 'wrong-signature';
  return check.firstUse(nonce) ? 'valid' : 'replayed';
}

function matches(secret: string, canonical: string, signature: string): boolean {
  const expected = createHmac('sha256', secret).update(canonical).digest();
  return timingSafeEqual(expected, Buffer.from(signature, 'hex'));
}

function split(target: string): [string, string] {
  const at = target.indexOf('?');
  return at === -1 ? [target, ''] : [target.slice(0, at), target.slice(at + 1)];
}

function single(value: string | string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

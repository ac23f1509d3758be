/** Posts signed deliveries to one exchange over kept connections. Follows no redirect (docs/adr/0023). */
import { hash } from 'node:crypto';
import http from 'node:http';
import https from 'node:https';
import { guardedLookup, parseOutboundAddress, type Reach } from '../platform/http/outbound-address.ts';
import { parseRetryAfter } from '../platform/http/retry-after.ts';

/** What came of a request. */
export type Answer =
  | { kind: 'answered'; status: number; retryAfterMs: number | undefined; responseHash: Buffer }
  /** `code` is stable and carries nothing of the exchange; `reached` tells whether a connection was made. */
  | { kind: 'unanswered'; code: string; reached: boolean };

export interface Sender {
  readonly path: string;
  readonly query: string;
  post(body: string, headers: Record<string, string>): Promise<Answer>;
  /** Let go of the kept connections; requests under way are not touched. */
  close(): void;
}

/** Idle connections are closed before most servers and firewalls do so, which would look like a failed try. */
const IDLE_MS = 4_000;
/** Of an answer at most so much is read; the hash covers what was read. */
const MAX_RESPONSE_BYTES = 1_048_576;

/** Throws AddressRefusedError for an address that must not be used. */
export function createSender(
  address: string,
  limits: { maxInFlight: number; timeoutMs: number; reach: Reach },
): Sender {
  const url = parseOutboundAddress(address, limits.reach);
  const secure = url.protocol === 'https:';
  const Agent = secure ? https.Agent : http.Agent;
  const agent = new Agent({
    keepAlive: true,
    timeout: IDLE_MS,
    maxSockets: limits.maxInFlight,
    lookup: guardedLookup(!secure, limits.reach),
  });
  const options: http.RequestOptions = {
    agent,
    method: 'POST',
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? (secure ? 443 : 80) : Number(url.port),
    path: url.pathname + url.search,
  };
  const start = secure ? https.request : http.request;
  return {
    path: url.pathname,
    query: url.search.slice(1),
    post: (body, headers) =>
      request(
        start,
        { ...options, headers: { host: url.host, ...headers } },
        { body, timeoutMs: limits.timeoutMs },
      ),
    close() {
      // Requests under way keep their connections until they are answered.
      agent.maxFreeSockets = 0;
      for (const sockets of Object.values(agent.freeSockets))
        for (const socket of sockets ?? []) socket.destroy();
    },
  };
}

function request(
  start: typeof http.request,
  options: http.RequestOptions,
  { body, timeoutMs }: { body: string; timeoutMs: number },
): Promise<Answer> {
  return new Promise((resolve) => {
    const sending = start(options);
    const finish = (answer: Answer) => {
      clearTimeout(timer);
      resolve(answer);
    };
    const timer = setTimeout(() => {
      finish({ kind: 'unanswered', code: 'TIMEOUT', reached: sending.socket?.connecting === false });
      sending.destroy();
    }, timeoutMs);
    sending.on('error', (error) =>
      finish({ kind: 'unanswered', code: codeOf(error), reached: wasReached(sending, error) }),
    );
    sending.on('response', (response) => readAnswer(response, finish));
    sending.end(body);
  });
}

function readAnswer(response: http.IncomingMessage, finish: (answer: Answer) => void): void {
  const chunks: Buffer[] = [];
  let size = 0;
  response.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size <= MAX_RESPONSE_BYTES) chunks.push(chunk);
    else {
      finish(answered(response, chunks));
      response.destroy();
    }
  });
  response.on('end', () => finish(answered(response, chunks)));
  // The answer broke off: whether the delivery was taken is not known.
  response.on('error', () => finish({ kind: 'unanswered', code: 'TRUNCATED', reached: true }));
}

function answered(response: http.IncomingMessage, chunks: Buffer[]): Answer {
  const [first = EMPTY] = chunks;
  return {
    kind: 'answered',
    status: response.statusCode ?? 0,
    retryAfterMs: parseRetryAfter(response.headers['retry-after'], new Date()),
    responseHash: hash('sha256', chunks.length > 1 ? Buffer.concat(chunks) : first, 'buffer'),
  };
}

const EMPTY = Buffer.alloc(0);

function codeOf(error: Error): string {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' && /^[A-Z0-9_a-z]{1,60}$/.test(code) ? code : 'FAILED';
}

/** A request on a socket that never connected says nothing about the delivery. */
function wasReached(sending: http.ClientRequest, error: Error): boolean {
  if (sending.socket === null || sending.socket.connecting) return false;
  const neverConnected = [
    'ECONNREFUSED',
    'ENOTFOUND',
    'EAI_AGAIN',
    'EHOSTUNREACH',
    'ENETUNREACH',
    'address_refused',
  ];
  return !neverConnected.includes(codeOf(error)) && !/CERT|TLS|SSL/.test(codeOf(error));
}

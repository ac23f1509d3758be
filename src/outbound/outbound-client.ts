/**
 * Requests to one server of somebody else, over kept connections. Follows no redirect.
 * Contract: SEC-26, SEC-28.
 */
import type { Agent, ClientRequest, IncomingHttpHeaders, IncomingMessage } from 'node:http';
import https from 'node:https';
import { http } from '../platform/node-http.ts';
import { type Span, traced } from '../platform/trace/trace.ts';
import { parseRetryAfter } from './backoff.ts';
import { guardedLookup, parseOutboundAddress, type Reach } from './outbound-address.ts';

export interface OutboundLimits {
  reach: Reach;
  maxInFlight: number;
  /**
   * For one request: to wait for a free connection, connect, send it and read the whole answer. It begins anew where a
   * kept connection had ended.
   */
  timeoutMs: number;
  /** Of an answer at most so much is read. */
  maxResponseBytes: number;
}

export interface OutboundRequest {
  method: string;
  /** With the query, as it is sent. */
  path: string;
  headers: Record<string, string | number>;
  body?: string | undefined;
  /** Each of the two instead of that of the client. */
  timeoutMs?: number | undefined;
  maxResponseBytes?: number | undefined;
  /** Asked once the connection stands, just before anything is written on it. False: nothing is. */
  mayWrite?: (() => Promise<boolean>) | undefined;
}

export interface OutboundAnswer {
  kind: 'answered';
  status: number;
  headers: IncomingHttpHeaders;
  retryAfterMs: number | undefined;
  /** What was read of the body. */
  chunks: readonly Buffer[];
  /** Whether that is all of it. */
  complete: boolean;
}

/** `code` is stable and carries nothing of the server; `reached` tells whether it may have seen the request. */
export interface Unanswered {
  kind: 'unanswered';
  code: string;
  reached: boolean;
}

export interface OutboundClient {
  readonly url: URL;
  send(request: OutboundRequest): Promise<OutboundAnswer | Unanswered>;
  /** Let go of the kept connections; requests under way are not touched. */
  close(): void;
}

/** `code` of a request that `mayWrite` stopped or did not answer for in time, or whose connection stood too late. */
export const NOT_WRITTEN = 'NOT_WRITTEN';

type Finish = (answer: OutboundAnswer | Unanswered) => void;

/** `code` of a request whose connection the server ended, or used for something else. */
const CUT_OFF = ['ECONNRESET', 'EPIPE', 'UNASKED'];

/** Idle connections are closed before most servers and firewalls do so, which would look like a failed try. */
const IDLE_MS = 4_000;

/** Throws AddressRefusedError for an address that must not be used. */
export function createOutboundClient(address: string, limits: OutboundLimits): OutboundClient {
  const url = parseOutboundAddress(address, limits.reach);
  const secure = url.protocol === 'https:';
  const agent = new (secure ? https.Agent : http.Agent)({
    keepAlive: true,
    timeout: IDLE_MS,
    maxSockets: limits.maxInFlight,
    maxFreeSockets: limits.maxInFlight,
    lookup: guardedLookup(!secure, limits.reach),
  });
  const server = {
    agent,
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? (secure ? 443 : 80) : Number(url.port),
  };
  const start = secure ? https.request : http.request;
  const connecting: Connecting = { event: secure ? 'secureConnect' : 'connect', standing: new WeakSet() };
  rememberStanding(agent, connecting);

  /** Undefined: a kept connection ended before anything was written on it. */
  async function sendOnce(request: OutboundRequest): Promise<OutboundAnswer | Unanswered | undefined> {
    const { method, path, headers, body, mayWrite } = request;
    const { timeoutMs = limits.timeoutMs, maxResponseBytes = limits.maxResponseBytes } = request;
    const endMs = performance.now() + timeoutMs;
    const sending = start({ ...server, method, path, headers: { host: url.host, ...headers } });
    const answering = answerTo(sending, { timeoutMs, maxResponseBytes }, connecting);
    // A process that stood still sees that the connection stands before it sees that the time is over.
    const inTime = async () => (await mayWrite?.()) !== false && performance.now() < endMs;
    let isKept = false;
    whenConnected(sending, connecting, (wasStanding) => {
      isKept = wasStanding;
      writeIf(inTime, sending, body);
    });
    const answer = await answering;
    const isCutOff = answer.kind === 'unanswered' && CUT_OFF.includes(answer.code);
    return isCutOff && isKept && !sending.writableEnded ? undefined : answer;
  }

  return {
    url,
    send(request) {
      const span = requestSpan(request.method, server);
      return traced(span, async () => {
        let answer: OutboundAnswer | Unanswered | undefined;
        while (answer === undefined) answer = await sendOnce(request);
        noteAnswer(span, answer);
        return answer;
      });
    },
    close() {
      // Requests under way keep their connections until they are answered.
      agent.maxFreeSockets = 0;
      for (const sockets of Object.values(agent.freeSockets))
        for (const socket of sockets ?? []) socket.destroy();
    },
  };
}

/** Says where it goes, and neither path nor query: those hold ids. */
function requestSpan(method: string, { host, port }: { host: string; port: number }): Span {
  return {
    name: method,
    kind: 'client',
    attributes: { 'http.request.method': method, 'server.address': host, 'server.port': port },
  };
}

function noteAnswer(span: Span, answer: OutboundAnswer | Unanswered): void {
  const status = answer.kind === 'answered' ? answer.status : undefined;
  span.attributes['http.response.status_code'] = status;
  span.failed = status === undefined || status >= 400;
  if (answer.kind === 'unanswered') span.attributes['error.type'] = answer.code;
}

/**
 * Remembers which connections of an agent stand, whoever they were made for: Node.js also makes one for a request that waited
 * for a connection and was given up, and hands it to another request when it stands already.
 */
function rememberStanding(agent: Agent, { event, standing }: Connecting): void {
  const connect = agent.createConnection.bind(agent);
  agent.createConnection = (options, callback) => {
    const socket = connect(options, callback);
    socket?.once(event, () => standing.add(socket));
    return socket;
  };
}

/**
 * Calls back once a request has a connection that stands, and says whether it stood before. Node.js tells of a new one
 * (`connect`, `secureConnect`) and, for one handed on by a request that ended, tells nothing, not even `reusedSocket`: so
 * those that stand are remembered.
 */
function whenConnected(
  sending: ClientRequest,
  { event, standing }: Connecting,
  then: (wasStanding: boolean) => void,
): void {
  sending.once('socket', (socket) => {
    if (standing.has(socket)) return then(true);
    socket.once(event, () => then(false));
  });
}

interface Connecting {
  event: 'connect' | 'secureConnect';
  standing: WeakSet<object>;
}

/** Nothing of a request, its head included, is written before its body is given. */
function writeIf(mayWrite: () => Promise<boolean>, sending: ClientRequest, body?: string): void {
  mayWrite().then(
    (may) => (may ? sending.end(body) : sending.destroy(new NotWrittenError())),
    (error: Error) => sending.destroy(error),
  );
}

/** The request may not be written after all. */
class NotWrittenError extends Error {
  code = NOT_WRITTEN;
}

function answerTo(
  sending: ClientRequest,
  { timeoutMs, maxResponseBytes }: Pick<OutboundLimits, 'timeoutMs' | 'maxResponseBytes'>,
  { standing }: Connecting,
): Promise<OutboundAnswer | Unanswered> {
  return new Promise((resolve) => {
    const finish: Finish = (answer) => {
      clearTimeout(timer);
      resolve(answer);
      // The connection would be in use until the server reads the rest of the request, which it may never do.
      if (!sending.writableFinished) sending.destroy();
    };
    const stands = () => sending.socket !== null && standing.has(sending.socket);
    const unanswered = (code: string) => {
      // Also what stands is not reached when its TLS is not trusted, and when nothing was written on it.
      const reached = stands() && sending.writableEnded && !isUntrusted(code);
      finish({ kind: 'unanswered', code, reached });
    };
    const timer = setTimeout(() => {
      // What stands and is not written waits for `mayWrite`: that is no failure of the server.
      unanswered(stands() && !sending.writableEnded ? NOT_WRITTEN : 'TIMEOUT');
      sending.destroy();
    }, timeoutMs);
    let response: IncomingMessage | undefined;
    sending.on('error', (error) => {
      // What comes after a whole answer is not of it, such as the body of a 204.
      if (!response?.complete) unanswered(codeOf(error));
    });
    sending.on('response', (given) => {
      response = given;
      if (sending.writableEnded) return read(given, maxResponseBytes, finish);
      // A second answer to the request before it, on a kept connection.
      unanswered('UNASKED');
      sending.destroy();
    });
    // 101, which nobody asked for: no other answer follows on this connection.
    sending.on('upgrade', (given, socket) => {
      if (sending.writableEnded) finish(answered(given, [], true));
      else unanswered('UNASKED');
      socket.destroy();
    });
  });
}

function read(response: IncomingMessage, maxBytes: number, finish: Finish): void {
  const chunks: Buffer[] = [];
  let size = 0;
  response.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size <= maxBytes) chunks.push(chunk);
    else {
      finish(answered(response, chunks, false));
      response.destroy();
    }
  });
  response.on('end', () => finish(answered(response, chunks, true)));
  // The answer broke off: what the server did is not known.
  response.on('error', () => finish({ kind: 'unanswered', code: 'TRUNCATED', reached: true }));
}

function answered(response: IncomingMessage, chunks: readonly Buffer[], complete: boolean): OutboundAnswer {
  return {
    kind: 'answered',
    status: response.statusCode ?? 0,
    headers: response.headers,
    retryAfterMs: parseRetryAfter(response.headers['retry-after'], new Date()),
    chunks,
    complete,
  };
}

function codeOf(error: Error): string {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' && /^[A-Z0-9_a-z]{1,60}$/.test(code) ? code : 'FAILED';
}

/** What OpenSSL finds wrong with a certificate (`openssl verify`, "Diagnostics"), as Node.js names it, and TLS itself. */
const UNTRUSTED =
  /CERT|TLS|SSL|CRL|^UNABLE_TO_|^INVALID_(?:CA|PURPOSE)$|^PATH_LENGTH_EXCEEDED$|^HOSTNAME_MISMATCH$/;

/** Whether a request was not sent because of the server's certificate or of TLS: trying again does not help. */
export function isUntrusted(code: string): boolean {
  return UNTRUSTED.test(code);
}

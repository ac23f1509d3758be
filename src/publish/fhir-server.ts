/** Sends requests to one target over kept connections. Follows no redirect (docs/adr/0050). */
import http from 'node:http';
import https from 'node:https';
import { guardedLookup, parseOutboundAddress } from '../platform/http/outbound-address.ts';
import { parseRetryAfter } from '../platform/http/retry-after.ts';
import type { TargetSettings } from './target.ts';

export interface FhirRequest {
  method: 'GET' | 'PUT' | 'POST';
  /** Below the base address: `Observation/8a…`. */
  path: string;
  headers?: Record<string, string>;
  /** JSON. */
  body?: string;
}

/** What came of a request. */
export type FhirAnswer =
  | {
      kind: 'answered';
      status: number;
      retryAfterMs: number | undefined;
      etag: string | undefined;
      location: string | undefined;
      /** Undefined when it was longer than this service reads. */
      body: string | undefined;
    }
  /** `code` is stable and carries nothing of the target; `reached` tells whether a connection was made. */
  | { kind: 'unanswered'; code: string; reached: boolean };

export interface FhirServer {
  send(request: FhirRequest): Promise<FhirAnswer>;
  /** Let go of the kept connections; requests under way are not touched. */
  close(): void;
}

/** Of an answer at most so much is read; a report with its document comes back whole. */
const MAX_RESPONSE_BYTES = 32 * 1024 * 1024;

/** Throws AddressRefusedError for an address that must not be used. */
export function createFhirServer(target: TargetSettings, secret: string | undefined): FhirServer {
  const url = parseOutboundAddress(target.base, 'operator');
  const secure = url.protocol === 'https:';
  const Agent = secure ? https.Agent : http.Agent;
  const agent = new Agent({
    keepAlive: true,
    maxSockets: target.maxInFlight,
    maxFreeSockets: target.maxInFlight,
    lookup: guardedLookup(!secure, 'operator'),
  });
  const start = secure ? https.request : http.request;
  const basePath = url.pathname.replace(/\/+$/, '');
  const fixed = {
    agent,
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? (secure ? 443 : 80) : Number(url.port),
  };
  const always = {
    host: url.host,
    accept: 'application/fhir+json, application/json;q=0.9',
    ...authHeaders(target, secret),
  };
  return {
    send({ method, path, headers, body }) {
      const length =
        body === undefined
          ? {}
          : { 'content-type': target.contentType, 'content-length': Buffer.byteLength(body) };
      const options = {
        ...fixed,
        method,
        path: `${basePath}/${path}`,
        headers: { ...always, ...length, ...headers },
      };
      return request(start(options), { body, timeoutMs: target.timeoutMs });
    },
    close() {
      agent.maxFreeSockets = 0;
      for (const sockets of Object.values(agent.freeSockets))
        for (const socket of sockets ?? []) socket.destroy();
    },
  };
}

function authHeaders(target: TargetSettings, secret = ''): Record<string, string> {
  switch (target.auth) {
    case 'bearer':
      return { authorization: `Bearer ${secret}` };
    case 'basic':
      return { authorization: `Basic ${Buffer.from(`${target.authUser}:${secret}`).toString('base64')}` };
    case 'api-key':
      return target.authHeader === null ? {} : { [target.authHeader]: secret };
    case 'none':
      return {};
  }
}

function request(
  sending: http.ClientRequest,
  { body, timeoutMs }: { body: string | undefined; timeoutMs: number },
): Promise<FhirAnswer> {
  return new Promise((resolve) => {
    const finish = (answer: FhirAnswer) => {
      clearTimeout(timer);
      resolve(answer);
    };
    const timer = setTimeout(() => {
      finish({ kind: 'unanswered', code: 'TIMEOUT', reached: wasConnected(sending) });
      sending.destroy();
    }, timeoutMs);
    sending.on('error', (error) =>
      finish({
        kind: 'unanswered',
        code: codeOf(error),
        reached: wasConnected(sending) && !isRefused(error),
      }),
    );
    sending.on('response', (response) => readAnswer(response, finish));
    sending.end(body);
  });
}

function readAnswer(response: http.IncomingMessage, finish: (answer: FhirAnswer) => void): void {
  const chunks: Buffer[] = [];
  let size = 0;
  response.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size <= MAX_RESPONSE_BYTES) chunks.push(chunk);
    else {
      finish(answered(response, undefined));
      response.destroy();
    }
  });
  response.on('end', () => finish(answered(response, chunks)));
  // The answer broke off: whether the request was done is not known.
  response.on('error', () => finish({ kind: 'unanswered', code: 'TRUNCATED', reached: true }));
}

function answered({ headers, statusCode = 0 }: http.IncomingMessage, chunks?: Buffer[]): FhirAnswer {
  const retryAfter = headers['retry-after'];
  return {
    kind: 'answered',
    status: statusCode,
    retryAfterMs: retryAfter === undefined ? undefined : parseRetryAfter(retryAfter, new Date()),
    etag: headers.etag,
    location: headers.location ?? headerText(headers['content-location']),
    // Most answers say all that is needed in their headers.
    get body() {
      return chunks && Buffer.concat(chunks).toString();
    },
  };
}

function headerText(value: string | string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function codeOf(error: Error): string {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' && /^[A-Z0-9_a-z]{1,60}$/.test(code) ? code : 'FAILED';
}

function wasConnected({ socket }: http.ClientRequest): boolean {
  return socket !== null && !socket.connecting;
}

/** A connection that never came about, or was not trusted: the target cannot have seen the request. */
function isRefused(error: Error): boolean {
  const code = codeOf(error);
  return (
    ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'address_refused'].includes(
      code,
    ) || /CERT|TLS|SSL/.test(code)
  );
}

/** Sends requests to one FHIR server (docs/adr/0050). Contract: PUB-10, PUB-14. */
import {
  createOutboundClient,
  type OutboundAnswer,
  type Unanswered,
} from '../../outbound/outbound-client.ts';
import type { FhirServerSettings } from '../servers/fhir-server.ts';

export interface FhirRequest {
  method: 'GET' | 'PUT' | 'POST' | 'DELETE';
  /** Below the base address: `Observation/8a…`. */
  path: string;
  headers?: Record<string, string>;
  /** JSON. */
  body?: string;
  /** So many bytes more of the answer are read than of others. */
  moreBytes?: number;
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
  | Unanswered;

export interface FhirClient {
  /** `timeoutMs`: instead of that of the server. */
  send(request: FhirRequest, timeoutMs?: number): Promise<FhirAnswer>;
  /** Let go of the kept connections; requests under way are not touched. */
  close(): void;
}

/** Of an answer at most so much is read: `Location` and `ETag` say what is needed of a longer one. */
const MAX_RESPONSE_BYTES = 4 * 1024 * 1024;

/** Throws AddressRefusedError for an address that must not be used. */
export function createFhirClient(server: FhirServerSettings, secret: string | undefined): FhirClient {
  const { maxInFlight, timeoutMs } = server;
  const client = createOutboundClient(server.base, {
    reach: 'operator',
    maxInFlight,
    timeoutMs,
    maxResponseBytes: MAX_RESPONSE_BYTES,
  });
  const basePath = client.url.pathname.replace(/\/+$/, '');
  const always = {
    accept: 'application/fhir+json, application/json;q=0.9',
    // Without it a server may compress what it likes (RFC 9110 section 12.5.3).
    'accept-encoding': 'identity',
    ...authHeaders(server, secret),
  };
  return {
    async send({ method, path, headers, body, moreBytes = 0 }, requestMs) {
      const content =
        body === undefined
          ? {}
          : { 'content-type': server.contentType, 'content-length': Buffer.byteLength(body) };
      const answer = await client.send({
        method,
        path: `${basePath}/${path}`,
        headers: { ...always, ...content, ...headers },
        body,
        timeoutMs: requestMs,
        maxResponseBytes: MAX_RESPONSE_BYTES + moreBytes,
      });
      return answer.kind === 'unanswered' ? answer : fhirAnswer(answer);
    },
    close: client.close,
  };
}

function authHeaders(server: FhirServerSettings, secret = ''): Record<string, string> {
  switch (server.auth) {
    case 'bearer':
      return { authorization: `Bearer ${secret}` };
    case 'basic':
      return { authorization: `Basic ${Buffer.from(`${server.authUser}:${secret}`).toString('base64')}` };
    case 'api-key':
      return server.authHeader === null ? {} : { [server.authHeader]: secret };
    case 'none':
      return {};
  }
}

function fhirAnswer({ kind, status, headers, retryAfterMs, chunks, complete }: OutboundAnswer): FhirAnswer {
  let body: string | undefined;
  return {
    kind,
    status,
    retryAfterMs,
    etag: headers.etag,
    location: headers.location ?? headers['content-location'],
    // Most answers say all that is needed in their headers, and are never joined.
    get body() {
      body ??= complete ? Buffer.concat(chunks).toString() : undefined;
      return body;
    },
  };
}

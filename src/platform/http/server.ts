/**
 * The HTTP server: one error shape, correlation ids, time-outs, metrics. No business words here.
 * Contract: HTTP-2, HTTP-7, HTTP-8, HTTP-12, HTTP-28, HTTP-31, HTTP-34, SEC-27, SEC-30.
 */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import Fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifySchemaValidationError,
} from 'fastify';
import { errorFields, type Log } from '../log/log.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { beginSpan, endSpan, inTrace, isTracing, type Span } from '../trace/trace.ts';
import { contentLanguage, languageOf } from '../words/accept-language.ts';
import type { Words } from '../words/words.ts';
import { createAllowedMethods } from './allowed-methods.ts';
import { errorHeadersOf, HUNG_UP, hungUp, toHttpError } from './caught-errors.ts';
import { errorBody, HttpError } from './errors.ts';
import { headerFault } from './header-faults.ts';
import { createFaultAnswers, MAX_HEADER_BYTES } from './protocol-faults.ts';
import { isSlowBody } from './slow-bodies.ts';
import { checkAtFirstUse } from './validation/check-at-first-use.ts';

const CORRELATION_ID = /^[A-Za-z0-9._-]{1,128}$/;
export const DEFAULT_BODY_LIMIT_BYTES = 65_536;

/** An error as it is sent. */
export interface WrittenError {
  contentType: string;
  body: object;
}

export interface ServerOptions {
  log: Log;
  metrics: Metrics;
  /** Addresses of proxies whose `x-forwarded-for` is believed. */
  trustProxy?: string[];
  /** The path that a request is answered as. */
  rewriteUrl?: (request: { url?: string | undefined }) => string;
  /** Where a request that no route takes is led to instead of its 404; undefined: nowhere. */
  leadTo?: (request: FastifyRequest) => string | undefined;
  /** What the 404 of an unknown path says there, instead of the usual; undefined elsewhere. */
  noSuchPath?: (path: string) => Words | undefined;
  /** Writes an error in another way than the one shape; undefined where it does not. */
  writeError?: (request: FastifyRequest, statusCode: number, message: string) => WrittenError | undefined;
}

/** What a server remembers of its requests, and what it tells of them to. */
interface Serving extends Pick<ServerOptions, 'log' | 'metrics' | 'writeError'> {
  refusals: WeakMap<FastifyRequest, HttpError>;
  spans: WeakMap<FastifyRequest, Span>;
}

export function createServer(options: ServerOptions): FastifyInstance {
  const { trustProxy, rewriteUrl = ({ url = '/' }) => url, leadTo = () => undefined } = options;
  const serving: Serving = { ...options, refusals: new WeakMap(), spans: new WeakMap() };
  const allowed = createAllowedMethods(options.noSuchPath);
  const faults = createFaultAnswers(allowed);
  const server = Fastify({
    logger: false,
    genReqId: correlationId,
    exposeHeadRoutes: true,
    bodyLimit: DEFAULT_BODY_LIMIT_BYTES,
    requestTimeout: 120_000,
    // Later than Node.js looks for requests that are not complete in time: those are answered 408.
    connectionTimeout: 180_000,
    keepAliveTimeout: 72_000,
    // headerFault refuses a missing Host; Node.js would answer it in another shape.
    http: { headersTimeout: 15_000, maxHeaderSize: MAX_HEADER_BYTES, requireHostHeader: false },
    forceCloseConnections: 'idle',
    // What still arrives on open connections while the server closes is answered like anything else.
    return503OnClosing: false,
    // No part of an address is longer: a malformed id is a 404, whatever its length.
    routerOptions: { maxParamLength: MAX_HEADER_BYTES },
    // Set later, these would come in place of Fastify's own, and it would have loaded those.
    schemaController: {
      compilersFactory: {
        buildValidator: () => validatorOf as never,
        buildSerializer: () => () => (data) => JSON.stringify(data),
      },
    },
    trustProxy: trustProxy === undefined || trustProxy.length === 0 ? false : trustProxy,
    rewriteUrl: (request) => originForm(rewriteUrl(request)),
    // An address that the router cannot read: Fastify runs no hook for it.
    frameworkErrors: (error, request, reply) => {
      reply.raw.once('finish', () => observe(serving, request, reply));
      answerError(serving, headerFault(request.raw) ?? error, { request, reply });
    },
    clientErrorHandler: (error, socket) => {
      if (!isSlowBody(error, socket)) faults.answerBroken(error, socket);
    },
  });
  server.removeAllContentTypeParsers();
  // Bodies are read by the route itself, after its caller was checked.
  server.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
  server.addHook('onRequest', (request, reply, done) => {
    setCommonHeaders(request, reply);
    // Fastify would answer what is no media type before anybody looked at the caller. It counts as none.
    if (request.mediaType === undefined) delete request.raw.headers['content-type'];
    const goOn = () => {
      const fault = headerFault(request.raw);
      if (fault !== undefined || !(request.is404 || lacksId(request))) return done(fault);
      const place = leadTo(request);
      if (place === undefined) return done(allowed.refusal(request.url));
      reply.code(303).header('location', place).send();
    };
    if (isTraced(request)) traceRequest(serving, { request, reply }, goOn);
    else goOn();
  });
  server.addHook('onResponse', (request, reply, done) => {
    const span = serving.spans.get(request);
    if (span === undefined) observe(serving, request, reply);
    else inTrace(span.context, () => observe(serving, request, reply));
    done();
  });
  server.addHook('onRoute', ({ method, url }) => allowed.add(method, url));
  faults.attach(server.server);
  // A path that goes on in any way, and nothing is there. Fastify would repeat it in its answer.
  server.setNotFoundHandler(async ({ url, method }) => {
    throw allowed.refusal(url, method);
  });
  server.setErrorHandler((error, request, reply) => answerError(serving, error, { request, reply }));
  return server;
}

/** The target without scheme and host, which a client may send too (RFC 9112, section 3.2.2). No host is looked at. */
function originForm(target: string): string {
  if (target.startsWith('/')) return target;
  const [, path] = /^https?:\/\/[^/?#]+(.*)$/is.exec(target) ?? [];
  if (path === undefined) return target;
  return path.startsWith('/') ? path : `/${path}`;
}

/** Whether an address ends where an id should stand, as in `/patients/base/`. */
function lacksId({ params }: FastifyRequest): boolean {
  return Object.entries(params as object).some(([name, value]) => name !== '*' && value === '');
}

interface Answering {
  request: FastifyRequest;
  reply: FastifyReply;
}

/** The rest of the request belongs to its span, which ends with the answer or with the connection. */
function traceRequest({ spans, refusals }: Serving, { request, reply }: Answering, goOn: () => void): void {
  const { raw } = reply;
  const span = requestSpan(request);
  spans.set(request, span);
  raw.once('close', () => {
    const code = refusals.get(request)?.code;
    span.attributes['http.response.status_code'] = raw.headersSent ? raw.statusCode : undefined;
    span.attributes['error.type'] = raw.writableFinished ? code : HUNG_UP;
    span.failed = raw.statusCode >= 500;
    endSpan(span);
  });
  beginSpan(span, goOn);
}

function observe({ log, metrics, refusals }: Serving, request: FastifyRequest, reply: FastifyReply): void {
  const route = request.routeOptions.url ?? 'unknown';
  const labels = { method: request.method, route, status: String(reply.statusCode) };
  metrics.httpRequestSeconds.observe(labels, reply.elapsedTime / 1_000);
  const fields = {
    correlationId: request.id,
    method: request.method,
    route,
    status: reply.statusCode,
    durationMs: Math.round(reply.elapsedTime * 10) / 10,
    code: refusals.get(request)?.code,
  };
  if (reply.statusCode >= 400 && refusals.get(request)?.isLogged !== true)
    log.info(fields, 'request refused');
  else log.debug(fields, 'request answered');
}

function answerError(serving: Serving, error: unknown, { request, reply }: Answering): FastifyReply {
  const answer = toHttpError(error) ?? hungUp(error, request.raw) ?? failed(request);
  serving.refusals.set(request, answer);
  logRefusal(serving, request, { answer, error });
  setCommonHeaders(request, reply);
  const { statusCode, words, headers } = answer;
  const language = languageOf(request.headers['accept-language']);
  const message = words[language];
  const { contentType, body } = serving.writeError?.(request, statusCode, message) ?? {
    contentType: 'application/json; charset=utf-8',
    body: errorBody(statusCode, message),
  };
  return reply
    .code(statusCode)
    .headers(headers)
    .headers(errorHeadersOf(request.raw))
    .headers(contentLanguage(language))
    .header('content-type', contentType)
    .send(JSON.stringify(body));
}

/** The answer to a fault of ours. */
function failed({ id }: FastifyRequest): HttpError {
  return new HttpError(500, 'internal', {
    en: `The service failed. Send the request again once. If it fails again, give the operator the correlation id ${id}.`,
    fr: `Le service a échoué. Envoyez la requête encore une fois. Si cela échoue à nouveau, donnez à l’opérateur l’identifiant de corrélation ${id}.`,
  });
}

/** What the answer to a caller leaves out. */
function logRefusal(
  { log }: Serving,
  { id: correlationId }: FastifyRequest,
  { answer, error }: { answer: HttpError; error: unknown },
): void {
  const { code, statusCode, cause, isLogged, message } = answer;
  if (code === HUNG_UP) log.info({ correlationId, code }, 'the caller hung up');
  else if (code === 'internal') log.error({ correlationId, ...errorFields(error) }, 'unexpected error');
  else if (statusCode >= 500 && !isLogged)
    // Without a cause, the code says it all. One code has several reasons: its words tell which.
    log.warn(
      {
        correlationId,
        code,
        ...(code === 'unavailable' ? { reason: message } : {}),
        ...(cause === undefined ? {} : errorFields(cause)),
      },
      'not available',
    );
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Asked by machines all the time, and of no interest in a trace. */
    untraced?: boolean;
  }
}

function isTraced({ routeOptions }: FastifyRequest): boolean {
  return isTracing() && routeOptions.config.untraced !== true;
}

function requestSpan({ id, method, headers, routeOptions }: FastifyRequest): Span {
  const { traceparent } = headers;
  return {
    name: `${method} ${routeOptions.url ?? 'unknown'}`,
    kind: 'server',
    link: typeof traceparent === 'string' ? traceparent : undefined,
    attributes: {
      'http.request.method': method,
      'http.route': routeOptions.url,
      'interchange.correlation_id': id,
    },
  };
}

function validatorOf({ schema }: { schema: unknown }) {
  const faultsOf = checkAtFirstUse(schema as object);
  return (data: unknown) => {
    const error = faultsOf(data);
    return error.length === 0 || { error: error as FastifySchemaValidationError[] };
  };
}

/** Of every answer; no browser takes an answer for something else than it says. */
function setCommonHeaders({ id }: FastifyRequest, { raw }: FastifyReply): void {
  raw.setHeader('x-correlation-id', id);
  raw.setHeader('cache-control', 'no-store');
  raw.setHeader('x-content-type-options', 'nosniff');
}

function correlationId(request: { headers: IncomingMessage['headers'] }): string {
  const given = request.headers['x-correlation-id'];
  return typeof given === 'string' && CORRELATION_ID.test(given) ? given : randomUUID();
}

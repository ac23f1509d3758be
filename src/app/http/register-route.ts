/**
 * Puts a route into the server: caller checks, then body and parameters, then the handler, then the release.
 * Contract: ACC-14, HTTP-9, HTTP-22, LOG-2.
 */
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest, FastifySchema, HTTPMethods } from 'fastify';
import type { TObject, TSchema } from 'typebox';
import { DEFAULT_PURPOSE_OF_USE, PURPOSES_OF_USE, type PurposeOfUse } from '../../fhir/purpose-of-use.ts';
import type { DatabaseTime } from '../../platform/db/database-time.ts';
import { addValue, emptyBody, hasBody, parseForm, parseJson, readBytes } from '../../platform/http/body.ts';
import { requireContentType } from '../../platform/http/content-type.ts';
import {
  convertQuery,
  declaredMembers,
  refuseMalformedEncoding,
  refuseUnusableText,
} from '../../platform/http/input.ts';
import type { Reply, RequestContext, RequestHeaders, Route } from '../../platform/http/route.ts';
import { DEFAULT_BODY_LIMIT_BYTES } from '../../platform/http/server.ts';
import { Type } from '../../platform/json-schema.ts';
import type { ActivityKind, ActivityRecorder } from '../../tenancy/activity/record-activity.ts';
import type { Access } from '../../tenancy/callers/access.ts';
import type { TokenIdentity } from '../../tenancy/callers/caller.ts';
import { requireStage } from '../../tenancy/callers/check-access.ts';
import type { FacilityScope } from '../../tenancy/scope.ts';
import {
  type CallerCheck,
  type CallerCheckDependencies,
  type CheckedCaller,
  createCallerCheck,
} from './check-caller.ts';
import { isConsoleCall } from './console-mount.ts';

export type ApiRoute = Route<Access>;
type HttpMethod = Extract<HTTPMethods, 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'>;

export interface RegisterDependencies extends CallerCheckDependencies {
  now: () => Date;
  databaseTime: () => DatabaseTime;
  /** Counts answered calls by the hour. */
  activity: Pick<ActivityRecorder, 'note'>;
  /** Whose session of the console a cookie proves; throws 401. */
  identifyConsole: (headers: FastifyRequest['headers'], databaseTime: DatabaseTime) => Promise<TokenIdentity>;
}

/** A line of the route table. */
export interface RouteEntry {
  method: HttpMethod;
  path: string;
  route: ApiRoute;
  /** Reached at the console alone. */
  atConsole?: boolean;
}

export function at(method: HttpMethod, path: string, route: ApiRoute): RouteEntry {
  return { method, path, route };
}

/** What the phases of one request hand to each other. */
interface Exchange {
  now: Date;
  /** Of a route that is not open to all. */
  check?: CallerCheck | undefined;
  checked?: CheckedCaller | undefined;
  /** Where the call counts, also when it is refused there. */
  facility?: FacilityScope;
  /** What is wrong with the body or the parameters. */
  fault?: unknown;
}

const exchanges = new WeakMap<FastifyRequest, Exchange>();
/** Once the caller was checked. */
const exchangeOf = (request: FastifyRequest) => exchanges.get(request) as Exchange;

export function registerRoute(
  server: FastifyInstance,
  deps: RegisterDependencies,
  { method, path, route, atConsole = false }: RouteEntry,
): void {
  const access = route.access;
  const querySchema = querySchemaOf(route);
  const checkOf = callerChecks(deps, { method, route });
  server.route({
    method,
    url: path,
    // Whatever is open to all has no business at the console, which has its own sign-in.
    config: atConsole ? { console: 'own' } : access.kind === 'open' ? {} : { console: 'shared' },
    schema: validatedParts(route, querySchema),
    // Faults of the input are answered only after the caller was confirmed.
    attachValidation: true,
    onRequest: async (request) => {
      const exchange: Exchange = { now: deps.now(), check: checkOf(request) };
      exchanges.set(request, exchange);
      exchange.checked = await exchange.check?.check(request.headers, exchange.now, (scope) => {
        exchange.facility = scope;
      });
    },
    preValidation: async (request) => {
      await readInput(request, route, querySchema).catch((error: unknown) => {
        exchangeOf(request).fault = error;
      });
    },
    handler: async (request, reply) => {
      const phases = { route, exchange: exchangeOf(request), clock: deps };
      return send(reply, await confirmedAnswer(request, phases));
    },
    onResponse: async (request, reply) => {
      const exchange = exchanges.get(request);
      const scope = exchange?.checked?.scope ?? exchange?.facility;
      if (scope !== undefined) deps.activity.note(scope, callKind(reply.statusCode));
    },
  });
}

function callKind(status: number): ActivityKind {
  if (status >= 500) return 'calls-failed';
  return status >= 400 ? 'calls-refused' : 'calls-answered';
}

/** The check of the entrance that a request came in by: one never looks at what proves a caller at the other. */
function callerChecks(
  deps: RegisterDependencies,
  { method, route }: Pick<RouteEntry, 'method' | 'route'>,
): (request: FastifyRequest) => CallerCheck | undefined {
  const { access } = route;
  if (access.kind === 'open') return () => undefined;
  const stages = access.kind === 'console' ? access.stages : (['signed-in'] as const);
  const reads = isRead(method, route);
  const byToken = createCallerCheck(deps, access, reads);
  const byCookie = createCallerCheck(deps, access, reads, async (headers) => {
    const identity = await deps.identifyConsole(headers, deps.databaseTime());
    requireStage(identity, stages);
    return identity;
  });
  return (request) => (isConsoleCall(request) ? byCookie : byToken);
}

interface Phases {
  route: ApiRoute;
  exchange: Exchange;
  /** Of the time now; a body may have been long on its way. */
  clock: Pick<RegisterDependencies, 'now' | 'databaseTime'>;
}

/** The answer or the failure of the handler, once it is sure that the caller may have it. */
async function confirmedAnswer(request: FastifyRequest, phases: Phases): Promise<Reply> {
  const { route, exchange, clock } = phases;
  const { check } = exchange;
  const answer = async () => {
    const fault = exchange.fault ?? request.validationError;
    if (fault !== undefined) throw fault;
    const input = { params: request.params, query: request.query, body: request.body };
    return route.handle(input as never, contextOf(request, phases));
  };
  if (exchange.checked === undefined || check === undefined) return answer();
  exchange.checked = await check.admit(exchange.checked, request.headers, clock.now());
  const outcome = await settle(answer);
  const renewed = await check.confirm(exchange.checked, request.headers, clock.now());
  if (renewed === undefined) return outcome();
  exchange.checked = renewed;
  return answer();
}

/** What `work` came to, to be returned or thrown later. */
async function settle<T>(work: () => Promise<T>): Promise<() => T> {
  try {
    const value = await work();
    return () => value;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}

/**
 * Reads of patient data, a search by form among them. Their access log entry, which is written before the answer leaves,
 * brings the changes of callers along.
 */
function isRead(method: HttpMethod, { access, schemas }: ApiRoute): boolean {
  const asks = method === 'GET' || schemas.bodyMode === 'form';
  return asks && access.kind === 'facility' && access.purposeOfUse !== 'none';
}

async function readInput(request: FastifyRequest, route: ApiRoute, querySchema: TObject): Promise<void> {
  const query: Record<string, string | string[]> = Object.create(null);
  Object.assign(query, request.query);
  refuseMalformedEncoding(queryText(request));
  const { bodyMode = 'parsed', bodyLimitBytes = DEFAULT_BODY_LIMIT_BYTES } = route.schemas;
  if (bodyMode === 'raw') request.body = await readBytes(request.raw, bodyLimitBytes);
  else if (bodyMode === 'stream') request.body = request.raw;
  else if (bodyMode === 'form') {
    // Without a body all parameters are in the address (FHIR R4, "search").
    if (hasBody(request.raw)) requireContentType(request.headers, ['application/x-www-form-urlencoded']);
    const form = parseForm(await readBytes(request.raw, bodyLimitBytes));
    for (const [name, value] of Object.entries(form))
      for (const one of Array.isArray(value) ? value : [value]) addValue(query, name, one);
    request.body = undefined;
  } else if (route.schemas.body !== undefined) {
    // Who sends nothing at all sends no content type that could be wrong.
    if (!hasBody(request.raw) && request.headers['content-type'] === undefined) throw emptyBody();
    requireContentType(request.headers, ['application/json']);
    const body = parseJson(await readBytes(request.raw, bodyLimitBytes));
    refuseUnusableText(body);
    request.body = declaredMembers(route.schemas.body, body);
  }
  refuseUnusableText(query);
  const { normaliseQuery = (same) => same } = route.schemas;
  request.query = convertQuery(querySchema, normaliseQuery(query), isStrict(request));
}

function queryText({ raw: { url = '' } }: FastifyRequest): string {
  const start = url.indexOf('?');
  return start === -1 ? '' : url.slice(start + 1);
}

function isStrict(request: FastifyRequest): boolean {
  const prefer = request.headers.prefer;
  // Of a preference that is there several times, the first counts (RFC 7240, section 2).
  const [, handling] = /(?:^|[,;\s])handling\s*=\s*"?(\w+)/i.exec(String(prefer ?? '')) ?? [];
  return handling?.toLowerCase() === 'strict';
}

function contextOf(request: FastifyRequest, { route, exchange, clock }: Phases): RequestContext {
  const { checked, check } = exchange;
  const context: RequestContext = {
    correlationId: request.id,
    now: exchange.now,
    databaseTime: clock.databaseTime(),
    remoteAddress: request.ip,
    target: request.url,
    headers: request.headers,
  };
  if (checked === undefined) return context;
  const session = {
    ...context,
    identity: checked.identity,
    caller: checked.entry.caller,
    stillAllowed: async () =>
      void (await check?.admit(checked, headersNaming(checked.scope, request.headers), clock.now())),
  };
  if (route.access.kind !== 'facility') return session;
  const { purposeOfUse } = request.query as { purposeOfUse?: PurposeOfUse };
  return Object.assign(session, {
    scope: checked.scope,
    purposeOfUse: purposeOfUse ?? DEFAULT_PURPOSE_OF_USE,
  });
}

/** The account may have another default facility by now; the handler works on that of the call. */
function headersNaming(scope: FacilityScope | undefined, headers: RequestHeaders): RequestHeaders {
  if (scope === undefined) return headers;
  return { ...headers, 'x-org-id': scope.organisationId, 'x-facility-id': scope.facilityId };
}

function send(reply: FastifyReply, answer: Reply): FastifyReply {
  reply.code(answer.status ?? 200);
  if (answer.headers !== undefined) reply.headers(answer.headers);
  if (answer.body === undefined) return reply.send(isNotModifiedHead(reply) ? Readable.from([]) : undefined);
  reply.header('content-type', answer.contentType ?? 'application/json; charset=utf-8');
  const { body } = answer;
  if (body instanceof Readable) return reply.send(reply.request.method === 'HEAD' ? unread(body) : body);
  return reply.send(typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body));
}

/** Fastify would read all of it and throw it away, behind an answer that has left. */
function unread(body: Readable): Readable {
  body.destroy();
  return Readable.from([]);
}

/** Fastify gives a HEAD without a body the length 0, which a 304 must not say (RFC 9110, section 8.6), and a stream none. */
function isNotModifiedHead({ request, statusCode }: FastifyReply): boolean {
  return request.method === 'HEAD' && statusCode === 304;
}

/** What Fastify validates; bodies that the handler reads itself are its own business. */
function validatedParts({ schemas }: ApiRoute, querystring: TObject): FastifySchema {
  const { params, body, bodyMode = 'parsed' } = schemas;
  return {
    querystring,
    ...(params === undefined ? {} : { params }),
    ...(bodyMode !== 'parsed' || body === undefined ? {} : { body }),
  };
}

/** The query of a route, with `purposeOfUse` where it has one. */
export function querySchemaOf({ access, schemas: { query = Type.Object({}) } }: ApiRoute): TObject {
  if (access.kind !== 'facility' || access.purposeOfUse === 'none') return query;
  const required = access.purposeOfUse === 'required';
  const purposeOfUse: TSchema = Type.Unsafe({
    type: 'string',
    enum: PURPOSES_OF_USE,
    ...(required ? {} : { default: DEFAULT_PURPOSE_OF_USE }),
    description: "Why you read the data. The service writes it to the patient's access log.",
  });
  return Type.Object({
    ...query.properties,
    purposeOfUse: required ? purposeOfUse : Type.Optional(purposeOfUse),
  });
}

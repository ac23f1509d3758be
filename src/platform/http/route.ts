/** What a route is. Features export routes; `src/app/routes.ts` gives each its method and path. */
import type { Static, TObject, TSchema } from 'typebox';
import type { DatabaseTime } from '../db/database-time.ts';

/** What a handler answers. `body` is sent as JSON; a string is sent as it is. */
export interface Reply {
  status?: number;
  headers?: Record<string, string>;
  contentType?: string;
  body?: unknown;
}

/** Headers of a request, by their names in lower case. */
export type RequestHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** The parts of a request that every handler gets. */
export interface RequestContext {
  correlationId: string;
  /** The clock of this process, passed in so that time is a test input. */
  now: Date;
  /** What statements take for the time, where the clocks of several processes must agree. */
  databaseTime: DatabaseTime;
  /** Address of the peer. */
  remoteAddress: string;
  /** The path and query, as they were sent. */
  target: string;
  headers: RequestHeaders;
}

/** Headers of answers that the OpenAPI document describes. */
export type ResponseHeader =
  | 'x-correlation-id'
  | 'x-import-id'
  | 'content-language'
  | 'etag'
  | 'last-modified'
  | 'retry-after'
  | 'www-authenticate'
  | 'accept-encoding'
  | 'content-disposition'
  | 'set-cookie';

export interface ResponseDocs {
  description: string;
  /** Its `examples`, or those of its parts, are shown. */
  schema?: TSchema;
  /** Of `schema`; default `application/json`. */
  mediaType?: string;
  /** Instead of `schema`, where there are several media types. */
  contents?: Readonly<Record<string, TSchema>>;
  /** Beside those that every answer of the status has. */
  headers?: readonly ResponseHeader[];
}

export interface RouteDocs {
  /** Unique; also the name of the operation in the OpenAPI document. */
  operationId: string;
  summary: string;
  description?: string;
  tag: string;
}

export interface RouteSchemas<Params extends TObject, Query extends TObject, Body extends TSchema> {
  params?: Params;
  query?: Query;
  /** Other ways to say a query, turned into the one that `query` describes, before it is checked. */
  normaliseQuery?: (query: Readonly<Record<string, unknown>>) => Record<string, unknown>;
  body?: Body;
  /** Bytes of body at most; default 65,536. */
  bodyLimitBytes?: number;
  /**
   * `parsed` (default): JSON checked against `body`. `form`: `application/x-www-form-urlencoded`, merged into the
   * query and checked as such (FHIR `_search`). `raw`: the bytes untouched. `stream`: the request as a stream.
   */
  bodyMode?: 'parsed' | 'form' | 'raw' | 'stream';
  /** Of a body that the handler reads itself: what it may be, by media type, for the OpenAPI document. */
  bodyContents?: Readonly<Record<string, TSchema>>;
  /** A good body of the first media type, for the OpenAPI document. */
  bodyExample?: unknown;
  /** Each answer by status, for the OpenAPI document and the contract tests. */
  responses: Record<number, ResponseDocs>;
}

/** The typed request that a handler sees. */
export interface RouteRequest<Params extends TObject, Query extends TObject, Body extends TSchema> {
  params: Static<Params>;
  query: Static<Query>;
  body: Static<Body>;
}

/** A route with its types erased, as the table holds it. */
export interface Route<Access = unknown, Context = unknown> {
  docs: RouteDocs;
  access: Access;
  schemas: RouteSchemas<TObject, TObject, TSchema>;
  handle: (request: never, context: Context) => Promise<Reply>;
}

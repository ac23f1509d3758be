/**
 * The errors that become HTTP answers, and the one shape that they are answered in.
 * Contract: HTTP-2, HTTP-5.
 */
import { STATUS_CODES } from 'node:http';
import type { DomainError } from '../domain-error.ts';

/** `{ statusCode, message, error }`, nothing else. */
export interface ErrorBody {
  statusCode: number;
  message: string;
  error: string;
}

/**
 * A failure that the caller is told about. `message` says what failed and what to do, and never carries
 * clinical values, names, tokens or SQL. `code` is stable, goes to the log, and has a row in docs/errors.md.
 */
export class HttpError extends Error {
  override name = 'HttpError';
  readonly statusCode: number;
  readonly code: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The log has said so already, and need not again. */
  readonly isLogged: boolean;

  constructor(
    statusCode: number,
    code: string,
    message: string,
    options?: { cause?: unknown; headers?: Record<string, string>; isLogged?: boolean },
  ) {
    super(message, options?.cause === undefined ? undefined : { cause: options.cause });
    this.statusCode = statusCode;
    this.code = code;
    this.headers = options?.headers ?? {};
    this.isLogged = options?.isLogged ?? false;
  }
}

export const badRequest = (message: string, code = 'bad_request') => new HttpError(400, code, message);
export const unauthorized = (message: string, code = 'unauthorized') =>
  new HttpError(401, code, message, { headers: { 'www-authenticate': 'Bearer' } });
export const forbidden = (message: string, code = 'forbidden') => new HttpError(403, code, message);
export const unavailable = (message: string, retryAfterSeconds: number, code = 'unavailable') =>
  new HttpError(503, code, message, { headers: { 'retry-after': String(retryAfterSeconds) } });

/** The answer to an error of a use case; undefined for one that no route should meet. */
export function httpErrorOf(error: DomainError): HttpError | undefined {
  const { status, headers, retryAfterSeconds } = error.wording;
  if (status === undefined) return undefined;
  const seconds = error.values.retryAfterSeconds ?? retryAfterSeconds;
  return new HttpError(status, error.code, error.message, {
    cause: error.cause,
    headers: { ...headers, ...(seconds === undefined ? {} : { 'retry-after': String(seconds) }) },
  });
}

export function errorBody(statusCode: number, message: string): ErrorBody {
  return { statusCode, message, error: STATUS_CODES[statusCode] ?? 'Error' };
}

/** Of the 404 for an unknown path. */
export const NO_SUCH_PATH = 'There is no such path. All of them are in /api/v1/docs.';

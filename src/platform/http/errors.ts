/**
 * The errors that become HTTP answers, and the one shape that they are answered in.
 * Contract: HTTP-2, HTTP-5.
 */

import type { DomainError } from '../domain-error.ts';
import { http } from '../node-http.ts';
import type { Words } from '../words/words.ts';

/** `{ statusCode, message, error }`, nothing else. */
export interface ErrorBody {
  statusCode: number;
  message: string;
  error: string;
}

/**
 * A failure that the caller is told about. `words` say what failed and what to do, and never carry clinical values,
 * names, tokens or SQL. `message` is the English of them. `code` is stable, goes to the log, and has a row in
 * docs/errors.md.
 */
export class HttpError extends Error {
  override name = 'HttpError';
  readonly statusCode: number;
  readonly code: string;
  readonly words: Words;
  readonly headers: Readonly<Record<string, string>>;
  /** The log has said so already, and need not again. */
  readonly isLogged: boolean;

  constructor(
    statusCode: number,
    code: string,
    words: Words,
    options?: { cause?: unknown; headers?: Record<string, string>; isLogged?: boolean },
  ) {
    super(words.en, options?.cause === undefined ? undefined : { cause: options.cause });
    this.statusCode = statusCode;
    this.code = code;
    this.words = words;
    this.headers = options?.headers ?? {};
    this.isLogged = options?.isLogged ?? false;
  }
}

export const badRequest = (words: Words, code = 'bad_request') => new HttpError(400, code, words);
export const unauthorized = (words: Words, code: string, challenge: string) =>
  new HttpError(401, code, words, { headers: { 'www-authenticate': challenge } });
export const forbidden = (words: Words, code = 'forbidden') => new HttpError(403, code, words);
export const unavailable = (words: Words, retryAfterSeconds: number, code = 'unavailable') =>
  new HttpError(503, code, words, { headers: { 'retry-after': String(retryAfterSeconds) } });

/** The answer to an error of a use case; undefined for one that no route should meet. */
export function httpErrorOf(error: DomainError): HttpError | undefined {
  const { status, headers, retryAfterSeconds } = error.wording;
  if (status === undefined) return undefined;
  const seconds = error.values.retryAfterSeconds ?? retryAfterSeconds;
  return new HttpError(status, error.code, error.words, {
    cause: error.cause,
    headers: { ...headers, ...(seconds === undefined ? {} : { 'retry-after': String(seconds) }) },
  });
}

export function errorBody(statusCode: number, message: string): ErrorBody {
  return { statusCode, message, error: http.STATUS_CODES[statusCode] ?? 'Error' };
}

/** Of the 404 for an unknown path. */
export const NO_SUCH_PATH: Words = {
  // A proxy may have a prefix before it.
  en: 'There is no such path. Every path is listed on the page whose address ends in /api/v1/docs. None ends in a slash.',
  fr: 'Ce chemin n’existe pas. Tous les chemins sont sur la page dont l’adresse se termine par /api/v1/docs. Aucun ne se termine par une barre oblique.',
};

/**
 * The errors that become HTTP answers, and the one shape that they are answered in.
 * Contract: HTTP-2, HTTP-5.
 */
import { STATUS_CODES } from 'node:http';
import type { FastifyError } from 'fastify';
import { type Outage, outageOf } from '../db/unavailable.ts';
import { DomainError } from '../domain-error.ts';
import type { Words } from '../words/words.ts';
import { validationWords } from './validation/validation-message.ts';

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
export const unauthorized = (words: Words, code = 'unauthorized') =>
  new HttpError(401, code, words, { headers: { 'www-authenticate': 'Bearer' } });
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
  return { statusCode, message, error: STATUS_CODES[statusCode] ?? 'Error' };
}

/** Of the 404 for an unknown path. */
export const NO_SUCH_PATH: Words = {
  en: 'There is no such path. All of them are in /api/v1/docs.',
  fr: 'Ce chemin n’existe pas. Tous les chemins sont dans /api/v1/docs.',
};

/** The answer to an error that has one; undefined for a fault of ours. */
export function toHttpError(error: unknown): HttpError | undefined {
  if (error instanceof HttpError) return error;
  if (error instanceof DomainError) return httpErrorOf(error);
  const { validation, validationContext, statusCode, code } = error as Partial<FastifyError>;
  if (validation !== undefined)
    return new HttpError(400, 'validation', validationWords(validation, validationContext ?? ''));
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE')
    return new HttpError(415, 'media_type', {
      en: 'This call does not accept that content type. Send application/json.',
      fr: 'Cet appel n’accepte pas ce type de contenu. Envoyez application/json.',
    });
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500)
    return new HttpError(
      statusCode,
      code ?? 'bad_request',
      CLIENT_FAULTS[statusCode] ?? {
        en: 'The request is not valid.',
        fr: 'La requête n’est pas valable.',
      },
    );
  const outage = outageOf(error);
  return outage === undefined ? undefined : Object.assign(OUTAGES[outage](), { cause: error });
}

const OUTAGES: Readonly<Record<Outage, () => HttpError>> = {
  unreachable: () =>
    unavailable(
      {
        en: 'The service cannot reach its database. Try again shortly.',
        fr: 'Le service n’atteint pas sa base de données. Réessayez dans un instant.',
      },
      2,
      'database',
    ),
  refusing: () =>
    unavailable(
      {
        en: 'The database is out of disk space or memory, or is read-only. Try again in a minute, and tell the operator.',
        fr: 'La base de données n’a plus d’espace disque ou de mémoire, ou est en lecture seule. Réessayez dans une minute, et prévenez l’opérateur.',
      },
      30,
      'database_refuses',
    ),
  slow: () =>
    unavailable(
      {
        en: 'The database took too long to answer. Try again shortly.',
        fr: 'La base de données a mis trop de temps à répondre. Réessayez dans un instant.',
      },
      5,
      'database_slow',
    ),
};

const CLIENT_FAULTS: Readonly<Record<number, Words>> = {
  404: NO_SUCH_PATH,
  413: {
    en: 'The body is too large.',
    fr: 'Le corps est trop grand.',
  },
  414: {
    en: 'The address is too long. Send fewer or shorter parameters.',
    fr: 'L’adresse est trop longue. Envoyez moins de paramètres, ou de plus courts.',
  },
};

/** What an error that was caught is answered with: one of ours, of Fastify, or of the database. Contract: HTTP-2. */
import type { IncomingMessage } from 'node:http';
import type { FastifyError } from 'fastify';
import { type Outage, outageOf } from '../db/unavailable.ts';
import { DomainError } from '../domain-error.ts';
import type { Words } from '../words/words.ts';
import { HttpError, httpErrorOf, NO_SUCH_PATH, unavailable } from './errors.ts';
import { validationWords } from './validation/validation-message.ts';

/** The answer to an error that has one; undefined for a fault of ours. */
export function toHttpError(error: unknown): HttpError | undefined {
  if (error instanceof HttpError) return error;
  if (error instanceof DomainError) return httpErrorOf(error);
  const { validation, validationContext, statusCode, code } = error as Partial<FastifyError>;
  if (validation !== undefined)
    return new HttpError(400, 'validation', validationWords(validation, validationContext ?? ''));
  if (code === 'FST_ERR_BAD_URL')
    return new HttpError(400, 'bad_encoding', {
      en: 'The path is not percent-encoded UTF-8. Send % itself as %25.',
      fr: 'Le chemin n’est pas de l’UTF-8 encodé avec %. Envoyez le signe % lui-même comme %25.',
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

const ADDED_HEADERS = new WeakMap<IncomingMessage, Readonly<Record<string, string>>>();

/** Have the answer to a request carry these headers if it is an error, whichever: several requests may fail with the same one. */
export function addErrorHeaders(raw: IncomingMessage, headers: Readonly<Record<string, string>>): void {
  ADDED_HEADERS.set(raw, headers);
}

/** What {@link addErrorHeaders} said of this request. */
export function errorHeadersOf(raw: IncomingMessage): Readonly<Record<string, string>> {
  return ADDED_HEADERS.get(raw) ?? {};
}

export const HUNG_UP = 'caller_hung_up';

/** The connection ended before all of the request was read. Nobody is left to read the answer. */
export function hungUp(error: unknown, raw: IncomingMessage): HttpError | undefined {
  const { code } = error as { code?: unknown };
  const broken = code === 'ECONNRESET' || code === 'ERR_STREAM_PREMATURE_CLOSE';
  // All of it may have come, and stand unread.
  const isOfRequest = raw.errored === error || !raw.complete;
  if (!broken || !isOfRequest || !raw.destroyed) return undefined;
  return new HttpError(400, HUNG_UP, {
    en: 'The connection ended before the request was complete. Send it again.',
    fr: 'La communication s’est terminée avant la fin de la requête. Envoyez-la à nouveau.',
  });
}

const tooLong = () =>
  unavailable(
    {
      en: 'The database took too long to answer. Try again shortly.',
      fr: 'La base de données a mis trop de temps à répondre. Réessayez dans un instant.',
    },
    5,
    'database_slow',
  );

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
  slow: tooLong,
  // The database gave it up after a wait for the others.
  conflict: tooLong,
};

const CLIENT_FAULTS: Readonly<Record<number, Words>> = {
  404: NO_SUCH_PATH,
  413: {
    en: 'The body is too large.',
    fr: 'Le corps est trop grand.',
  },
};

/**
 * What the operations of the OpenAPI document share: errors, headers of answers, parameters in headers.
 * Contract: HTTP-26.
 */

import { operationOutcome } from '../../fhir/operation-outcome.ts';
import { errorBody } from '../../platform/http/errors.ts';
import { named } from '../../platform/http/named-schema.ts';
import type { ResponseHeader } from '../../platform/http/route.ts';
import { Type } from '../../platform/json-schema.ts';
import { ERROR_EXAMPLES } from './error-examples.ts';
import type { Json, SchemaComponents } from './open-api-schemas.ts';

/** The one error body. */
const ErrorSchema = Type.Object(
  {
    statusCode: Type.Integer({ description: 'HTTP status.' }),
    message: Type.String({ description: 'What went wrong and what to do.' }),
    error: Type.String({ description: 'Name of the status.' }),
  },
  { title: 'Error', additionalProperties: false },
);

const OperationOutcomeSchema = Type.Object(
  {
    resourceType: Type.Literal('OperationOutcome'),
    issue: Type.Array(
      named(
        'OperationOutcomeIssue',
        Type.Object({ severity: Type.Literal('error'), code: Type.String(), diagnostics: Type.String() }),
      ),
    ),
    ...ErrorSchema.properties,
  },
  { title: 'OperationOutcome', description: 'Sent when `Accept` names application/fhir+json.' },
);

const ERRORS: Readonly<Record<number, string>> = {
  400: 'The request is not valid.',
  401: 'The access token is missing, not valid, expired or revoked.',
  403: 'A permission is missing, the module is off, or the privacy setting refuses the purpose.',
  404: 'The record does not exist, or belongs to another organisation or facility.',
  406: '`Accept` or `_format` does not allow the media type of this answer.',
  408: 'The body stopped arriving, or arrived too slowly.',
  409: 'The request conflicts with stored data.',
  410: 'The data existed and was removed.',
  413: 'The body is too large.',
  415: 'The call does not accept the media type or the content encoding of the body.',
  422: 'The request is valid, but the service cannot carry it out.',
  429: 'Too many sign-ins failed. Wait for the seconds in `retry-after`.',
  500: 'The service failed.',
  502: 'The external FHIR server failed.',
  503: 'The service cannot answer at the moment. Try again later.',
};

/** The statuses that a call may answer without a word about them, and which calls. */
const USUAL: Readonly<Record<number, string>> = {
  400: 'any call',
  401: 'calls that need a session',
  403: 'calls of a facility, and of the console',
  404: 'calls of a facility, and of the console',
  406: 'calls with `_format`',
  413: 'calls other than GET',
  415: 'calls other than GET',
  500: 'any call',
  503: 'any call',
};

/** Headers that some answers have, by status. */
const HEADERS_OF: Readonly<Record<number, readonly ResponseHeader[]>> = {
  401: ['www-authenticate'],
  408: ['x-import-id'],
  415: ['accept-encoding'],
  429: ['retry-after'],
  502: ['retry-after'],
  503: ['retry-after'],
};

const HEADERS: Readonly<Record<ResponseHeader, string>> = {
  'x-correlation-id':
    'The id that the request sent, or a new one. Give it to the operator when you report a problem.',
  'x-import-id':
    'Id of the import: GET /imports/<id> shows it. An error of POST /imports/fhir has it where the import is kept.',
  'content-language': '`fr`, when the texts of the answer are in French.',
  etag: 'Version of the record. Send it in `If-None-Match`.',
  'last-modified': 'When the record last changed.',
  'retry-after': 'How many seconds to wait before the next try.',
  'www-authenticate':
    '`Bearer`, when the call needs a valid access token, with `error="invalid_token"` when the one that was sent is not. `Cookie`, when it needs a session of the console. `Signature`, when a callback needs a valid one.',
  'accept-encoding': 'The content encodings that the call takes, when the body had another one.',
  'content-disposition': 'Name of the file.',
  'set-cookie': 'The cookie of the session.',
};

const TEXT = { type: 'string' };
const ID = { type: 'string', format: 'uuid' };

const PARAMETERS: Json = {
  CorrelationId: header(
    'x-correlation-id',
    'An id of your choice for this request. The answer repeats it, and the log of the service contains it.',
    { type: 'string', pattern: '^[A-Za-z0-9._-]{1,128}$' },
  ),
  AcceptLanguage: header(
    'accept-language',
    'The language of error messages, and of reasons in the report on a map file: `en` (default) or `fr`, with weights as in RFC 9110.',
    TEXT,
  ),
  Prefer: header(
    'prefer',
    'With `handling=strict`, an unknown query parameter is answered 400. Otherwise it is ignored.',
    TEXT,
  ),
  Organisation: header('x-org-id', 'Id of the organisation. Default: the organisation of the account.', ID),
  Facility: header('x-facility-id', 'Id of the facility. Default: the default facility of the account.', ID),
  IfNoneMatch: header(
    'if-none-match',
    'ETags of versions that you already have. The answer is 304 when one of them is the current version.',
    TEXT,
  ),
};

/** The name of the answer to an error that a call has words of its own for. Throws for a status without a description. */
export function errorName(status: number): string {
  if (ERRORS[status] === undefined) throw new Error(`the status ${status} has no description`);
  return `Error${status}`;
}

/** What a call says of its answer to an error, unless the answer that it names says the same. */
export function ownWords(status: number, description: string): Json {
  return description === ERRORS[status] ? {} : { description };
}

/** The answer to every other error. */
export function usualErrorName(fhir: boolean): string {
  return fhir ? 'FhirError' : 'Error';
}

/** The member `headers` of an answer, where it has any beside those of every answer. */
export function headersOf(status: number, own: readonly ResponseHeader[] = []): Json {
  const ofErrors: readonly ResponseHeader[] = status >= 400 ? ['content-language'] : [];
  return describedHeaders([...ofErrors, ...(HEADERS_OF[status] ?? []), ...own]);
}

function describedHeaders(names: readonly ResponseHeader[]): Json {
  if (names.length === 0) return {};
  return {
    headers: Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }])),
  };
}

/** Parameters, headers and error answers, which operations name by `$ref`. */
export function sharedComponents(schemas: SchemaComponents): Record<string, Json> {
  const plain = { schema: schemas.describe(ErrorSchema) };
  const sentences = Object.entries(USUAL).map(
    ([status, calls]) => `${status}, ${calls}: ${ERRORS[Number(status)]}`,
  );
  const usual = {
    description: ['What calls may answer beside what stands with each:', ...sentences].join('\n- '),
    ...describedHeaders([
      'content-language',
      'www-authenticate',
      'accept-encoding',
      'retry-after',
      'x-import-id',
    ]),
  };
  const responses = Object.keys(ERRORS).map((text) => {
    const status = Number(text);
    const shown = status in USUAL ? { example: exampleOf(status) } : { examples: examplesOf(status) };
    const content = { 'application/json': { ...plain, ...shown } };
    return [errorName(status), { description: ERRORS[status], ...headersOf(status), content }];
  });
  const examples = Object.assign({}, ...Object.keys(USUAL).map((status) => examplesOf(Number(status))));
  return {
    parameters: PARAMETERS,
    headers: Object.fromEntries(
      Object.entries(HEADERS).map(([name, description]) => [name, { description, schema: TEXT }]),
    ),
    responses: {
      Error: { ...usual, content: { 'application/json': { ...plain, examples } } },
      FhirError: {
        ...usual,
        description: 'The same as Error. For FHIR clients it is an OperationOutcome, too.',
        content: {
          'application/json': { ...plain, example: exampleOf(401) },
          'application/fhir+json': {
            schema: schemas.describe(OperationOutcomeSchema),
            example: { ...operationOutcome(401, messageOf(401)), ...exampleOf(401) },
          },
        },
      },
      ...Object.fromEntries(responses),
    },
  };
}

/** The example of the first code. */
function exampleOf(status: number): object {
  return errorBody(status, messageOf(status));
}

function messageOf(status: number): string {
  return Object.values(ERROR_EXAMPLES[status] ?? {})[0] ?? '';
}

/** One example of each code. */
function examplesOf(status: number): Json {
  const messages = Object.entries(ERROR_EXAMPLES[status] ?? {});
  return Object.fromEntries(messages.map(([code, message]) => [code, { value: errorBody(status, message) }]));
}

function header(name: string, description: string, schema: Json): Json {
  return { name, in: 'header', description, schema };
}

/** Checks real answers against what the served OpenAPI document says of their operation. */
import assert from 'node:assert/strict';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { Answer, Json, TestApi } from '../service/api.ts';
import type { RegisteredRoute } from './route-requests.ts';
import { resolveIn } from './schema-examples.ts';

export interface GivenAnswer {
  status: number;
  /** Lower-case names. */
  headers: Readonly<Record<string, string>>;
  body: string;
}

/** Fails for a status, media type, header or body that the document does not have. */
export type AnswerCheck = (entry: Pick<RegisteredRoute, 'method' | 'path'>, answer: GivenAnswer) => void;

/** Headers of a connection, of a body or of every answer, not of an operation. */
const TRANSPORT = new Set([
  'cache-control',
  'connection',
  'content-length',
  'content-type',
  'date',
  'keep-alive',
  'transfer-encoding',
  'x-content-type-options',
  'x-correlation-id',
]);
/** Any call may be answered with them: see the description in `openapi.json`. */
const ANYWHERE = new Set([405, 408, 417, 431]);
const FORMATS: Readonly<Record<string, RegExp>> = {
  uuid: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
  'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/,
};
const BASES = ['/api/v1', '/console/api'];

export function createAnswerCheck(document: Json): AnswerCheck {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  for (const [name, format] of Object.entries(FORMATS)) ajv.addFormat(name, format);
  ajv.addFormat('binary', true);
  ajv.addSchema(document, 'document');
  const compiled = new Map<string, ValidateFunction>();

  function validate(pointer: string, value: unknown): string {
    const check = compiled.get(pointer) ?? ajv.compile({ $ref: `document#${pointer}` });
    compiled.set(pointer, check);
    return check(value) ? '' : ajv.errorsText(check.errors);
  }

  return ({ method, path }, { status, headers, body }) => {
    const base = BASES.find((one) => path.startsWith(`${one}/`));
    if (base === undefined || ANYWHERE.has(status)) return;
    const address = path.slice(base.length).replaceAll(/:(\w+)/g, '{$1}');
    const where = `${method} ${address} ${status}`;
    const operation = document.paths[address]?.[method.toLowerCase()];
    assert.ok(operation, `${where}: no such operation`);
    const given = operation.responses[status] ?? usualAnswer(operation, { method, status });
    assert.ok(given, `${where}: the status is not documented: ${body.slice(0, 200)}`);
    const response = resolveIn(document, given);
    const names = Object.keys(headers).filter((name) => !TRANSPORT.has(name));
    const unknown = names.filter((name) => response.headers?.[name] === undefined);
    assert.deepEqual(unknown, [], `${where}: headers that are not documented`);
    const mediaType = headers['content-type']?.split(';')[0]?.trim();
    if (mediaType === undefined) return assert.equal(response.content, undefined, `${where}: no body`);
    assert.ok(response.content?.[mediaType], `${where}: ${mediaType} is not documented`);
    if (!mediaType.endsWith('json') || body === '') return;
    const at =
      given.$ref?.slice(1) ?? `/paths/${escaped(address)}/${method.toLowerCase()}/responses/${status}`;
    const faults = validate(`${at}/content/${escaped(mediaType)}/schema`, JSON.parse(body));
    assert.equal(faults, '', `${where}: ${body.slice(0, 300)}`);
  };
}

/** The answer `default`, where its description has the status and this call is one of those that it is of. */
function usualAnswer(
  { parameters, requestBody, responses, security }: Json,
  { method, status }: { method: string; status: number },
): Json | undefined {
  const takes = (name: string) => parameters.some(({ $ref }: Json) => $ref?.endsWith(`/${name}`));
  // A form has `_format` among its members.
  const isForm = requestBody?.content?.['application/x-www-form-urlencoded'] !== undefined;
  const atConsole = security?.[0]?.consoleSession !== undefined;
  const of: Readonly<Record<number, boolean>> = {
    400: true,
    401: security?.length !== 0,
    403: takes('Facility') || atConsole,
    404: takes('Facility') || atConsole,
    406: takes('_format') || isForm,
    413: method !== 'GET',
    415: method !== 'GET',
    500: true,
    503: true,
  };
  return of[status] ? responses.default : undefined;
}

/** The same check for answers of `api.call`. `address` is that below `/api/v1`. Returns the answer. */
export async function documentedCalls(
  api: TestApi,
): Promise<(method: string, address: string, answer: Answer) => Answer> {
  const check = createAnswerCheck((await api.call('/docs/json')).json);
  return (method, address, answer) => {
    const path = BASES[0] + (address.split('?', 1)[0] ?? '');
    const entry = api.api.routes.find((route) => route.method === method && isAt(route.path, path));
    assert.ok(entry, `${method} ${path}: no such route`);
    const { status, headers, text: body } = answer;
    check(entry, { status, headers: Object.fromEntries(headers), body });
    return answer;
  };
}

function isAt(route: string, path: string): boolean {
  const parts = route.split('/');
  const given = path.split('/');
  return (
    parts.length === given.length && parts.every((part, at) => part.startsWith(':') || part === given[at])
  );
}

/** A key as a part of a JSON pointer in a URI. */
function escaped(key: string): string {
  return encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1'));
}

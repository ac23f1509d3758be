/** One operation of the OpenAPI document, from its route. Contract: HTTP-25. */
import type { TObject, TSchema } from 'typebox';
import type { ResponseDocs } from '../../platform/http/route.ts';
import type { Access } from '../../tenancy/callers/access.ts';
import { errorName, headersOf, ownWords, usualErrorName } from './open-api-answers.ts';
import type { Json, SchemaComponents } from './open-api-schemas.ts';
import { type ApiRoute, querySchemaOf } from './register-route.ts';

export interface OperationInput {
  route: ApiRoute;
  /** Whether its errors may be OperationOutcomes. */
  fhir: boolean;
}

/** What calls need that do not need the access token, which the document names for all others. */
const OTHER_SECURITY: Partial<Record<Access['kind'], readonly Json[]>> = {
  open: [],
  console: [{ consoleSession: [] }],
};

export function operationOf({ route, fhir }: OperationInput, schemas: SchemaComponents): Json {
  const { access, docs } = route;
  const query = querySchemaOf(route);
  const requestBody = requestBodyOf(route, query, schemas);
  return {
    operationId: docs.operationId,
    summary: docs.summary,
    description: [docs.description, permissionText(access)].filter(Boolean).join('\n\n') || undefined,
    tags: [docs.tag],
    ...(access.kind in OTHER_SECURITY ? { security: OTHER_SECURITY[access.kind] } : {}),
    parameters: parametersOf(route, query, schemas),
    ...(requestBody === undefined ? {} : { requestBody }),
    responses: responsesOf(route, fhir, schemas),
  };
}

function parametersOf({ access, schemas: own }: ApiRoute, query: TObject, schemas: SchemaComponents): Json[] {
  const shared: string[] = [];
  if (Object.keys(query.properties).length > 0) shared.push('Prefer');
  if (access.kind === 'facility') shared.push('Organisation', 'Facility');
  if (304 in own.responses) shared.push('IfNoneMatch');
  return [
    ...describeParameters(own.params, 'path', schemas),
    ...(own.bodyMode === 'form' ? [] : describeParameters(query, 'query', schemas)),
    ...shared.map((name) => ({ $ref: `#/components/parameters/${name}` })),
  ];
}

function describeParameters(object: TObject | undefined, place: string, schemas: SchemaComponents): Json[] {
  const required = new Set<string>(object?.required as string[] | undefined);
  return Object.entries(object?.properties ?? {}).map(([name, given]) => {
    const { description, examples, ...schema } = schemas.describe(given as TSchema, name);
    return {
      name,
      in: place,
      ...(place === 'path' || required.has(name) ? { required: true } : {}),
      ...(description === undefined ? {} : { description }),
      schema,
      ...(Array.isArray(examples) ? { example: examples[0] } : {}),
    };
  });
}

function requestBodyOf(
  { docs, schemas: own }: ApiRoute,
  query: TObject,
  schemas: SchemaComponents,
): Json | undefined {
  const { bodyMode = 'parsed', body, bodyContents, bodyExample } = own;
  const form = { ...query, title: `${docs.operationId[0]?.toUpperCase()}${docs.operationId.slice(1)}` };
  const formContents = bodyMode === 'form' ? { 'application/x-www-form-urlencoded': form } : undefined;
  const contents = formContents ?? bodyContents ?? (body && { 'application/json': body });
  if (contents === undefined) return undefined;
  const example = bodyExample === undefined ? {} : { example: bodyExample };
  return {
    required: true,
    content: Object.fromEntries(
      Object.entries(contents).map(([type, schema], index) => [
        type,
        { schema: schemas.describe(schema), ...(index === 0 ? example : {}) },
      ]),
    ),
  };
}

/** Errors that many calls have alike are one answer, `default`. */
function responsesOf({ schemas: own }: ApiRoute, fhir: boolean, schemas: SchemaComponents): Json {
  const error = (name: string) => ({ $ref: `#/components/responses/${name}` });
  const answers = Object.entries(own.responses).map(([text, docs]) => {
    const status = Number(text);
    const answer =
      status >= 400
        ? { ...error(errorName(status)), ...ownWords(status, docs.description) }
        : answerOf(status, docs, schemas);
    return [text, answer];
  });
  return { ...Object.fromEntries(answers), default: error(usualErrorName(fhir)) };
}

function answerOf(status: number, docs: ResponseDocs, schemas: SchemaComponents): Json {
  const { description, schema, mediaType = 'application/json', contents, headers } = docs;
  const all = contents ?? (schema && { [mediaType]: schema });
  const content = Object.entries(all ?? {}).map(([type, one]) => [type, { schema: schemas.describe(one) }]);
  return {
    description,
    ...headersOf(status, headers),
    ...(all === undefined ? {} : { content: Object.fromEntries(content) }),
  };
}

function permissionText(access: Access): string {
  if (access.kind !== 'facility') return '';
  const modules = [access.module ?? [], access.alsoModules ?? []].flat().map((name) => `\`${name}\``);
  const moduleText =
    modules.length === 0 ? '' : ` Module${modules.length === 1 ? '' : 's'}: ${modules.join(' and ')}.`;
  const permissions = access.permissions.map((name) => {
    const module = access.moduleOf?.[name];
    return module === undefined ? `\`${name}\`` : `\`${name}\` (module \`${module}\`)`;
  });
  return `Permission: ${permissions.join(' or ')}.${moduleText}`;
}

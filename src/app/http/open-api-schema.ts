/** What a route says of itself in the OpenAPI document, in the shape that the server validates with. */
import Type, { type TObject, type TSchema } from 'typebox';
import type { Route } from '../../platform/http/route.ts';
import type { Access } from '../../tenancy/access.ts';

/** The one error body (specification, "Errors"). */
export const ErrorSchema = Type.Object(
  {
    statusCode: Type.Integer({ description: 'HTTP status.' }),
    message: Type.String({ description: 'What failed and what to do.' }),
    error: Type.String({ description: 'Name of the status.' }),
  },
  { additionalProperties: false },
);

const FACILITY_HEADERS = {
  'x-org-id': Type.Optional(Type.String({ description: 'Organisation; default: that of the account.' })),
  'x-facility-id': Type.Optional(Type.String({ description: 'Facility; default: that of the profile.' })),
};

const FAULTS: Readonly<Record<number, string>> = {
  400: 'The request is not valid.',
  401: 'The access token is missing, expired or revoked.',
  403: 'A permission is missing, the module is off, or the privacy setting refuses the purpose.',
  404: 'Not found, or outside the tenant or facility of the caller.',
};

export function openApiSchema(route: Route<Access>, query: TObject): Record<string, unknown> {
  const { access, docs, schemas } = route;
  const hasQuery = Object.keys(query.properties).length > 0;
  return {
    operationId: docs.operationId,
    summary: docs.summary,
    description: [docs.description, permissionText(access)].filter(Boolean).join('\n\n') || undefined,
    tags: [docs.tag],
    ...(schemas.params === undefined ? {} : { params: schemas.params }),
    ...(hasQuery ? { querystring: query } : {}),
    ...bodyOf(route),
    ...(access.kind === 'facility' ? { headers: Type.Object(FACILITY_HEADERS) } : {}),
    security: access.kind === 'open' ? [] : [{ accessToken: [] }],
    response: { ...faultsOf(access), ...responsesOf(route) },
  };
}

/** Bodies that are read raw, as a stream or as a form are described, not validated, here. */
function bodyOf({ schemas }: Route<Access>): Record<string, unknown> {
  const { body, bodyMode = 'parsed' } = schemas;
  if (bodyMode !== 'parsed' || body === undefined) return {};
  return { body };
}

function responsesOf({ schemas }: Route<Access>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(schemas.responses).map(([status, { description, schema, mediaType }]) => {
      const body = schema ?? (Number(status) >= 400 ? ErrorSchema : undefined);
      const type = mediaType ?? 'application/json';
      return [status, body === undefined ? { description, type: 'null' } : content(description, type, body)];
    }),
  );
}

function faultsOf(access: Access): Record<string, unknown> {
  const statuses = access.kind === 'open' ? [400] : access.kind === 'session' ? [401] : [400, 401, 403, 404];
  return Object.fromEntries(
    statuses.map((status) => [status, content(FAULTS[status] ?? '', 'application/json', ErrorSchema)]),
  );
}

function content(description: string, mediaType: string, schema: TSchema): Record<string, unknown> {
  return { description, content: { [mediaType]: { schema } } };
}

function permissionText(access: Access): string {
  if (access.kind !== 'facility') return '';
  const moduleText = access.module === undefined ? '' : ` Module: \`${access.module}\`.`;
  return `Permission: ${access.permissions.map((name) => `\`${name}\``).join(' or ')}.${moduleText}`;
}

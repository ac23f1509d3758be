/** /exchange/connections: administrators manage connections to exchanges. Contract: EXC-49. */
import type { Static } from 'typebox';
import { parseDateTime } from '../../fhir/date-time.ts';
import { badRequest } from '../../platform/http/errors.ts';
import { listSchema } from '../../platform/http/paging.ts';
import type { Route } from '../../platform/http/route.ts';
import { isUuid } from '../../platform/uuid.ts';
import { type Access, facilityRoute } from '../../tenancy/callers/access.ts';
import { readConnection } from './change-connection.ts';
import {
  ConnectionChangesBody,
  ConnectionParams,
  ConnectionSchema,
  CreatedConnectionSchema,
  connectionView,
  NewConnectionBody,
  RotatedSchema,
  RotationBody,
} from './connection.schema.ts';
import {
  activateManaged,
  changeManagedConnection,
  createCovering,
  listCovering,
  type ManageDependencies,
  rotateManaged,
} from './manage-connections.ts';
import type { SecretRotation } from './rotate-secret.ts';

/** What every call about connections needs. */
export const CONNECTION_ACCESS = {
  permissions: ['exchange.connections.manage'],
  module: 'exchange',
  purposeOfUse: 'none',
} as const;
const tag = 'Exchange';

export function listConnectionsRoute(deps: ManageDependencies): Route<Access> {
  return facilityRoute(CONNECTION_ACCESS, {
    docs: {
      operationId: 'listExchangeConnections',
      summary: 'List the connections that deliver patients of the facility',
      tag,
    },
    responses: {
      200: { description: 'All of them.', schema: listSchema(ConnectionSchema) },
    },
    handle: async (_request, { scope }) => {
      const found = await listCovering(deps.db, scope);
      return { body: { items: found.map((connection) => connectionView(connection, deps.publicBaseUrl)) } };
    },
  });
}

export function createConnectionRoute(deps: ManageDependencies): Route<Access> {
  return facilityRoute(CONNECTION_ACCESS, {
    docs: {
      operationId: 'createExchangeConnection',
      summary: 'Connect to an exchange',
      description:
        'The connection delivers patients of the facility of the call, unless facilityIds names others. Only this answer shows the secrets.',
      tag,
    },
    body: NewConnectionBody,
    bodyExample: {
      name: 'National exchange',
      address: 'https://exchange.example.org/patients',
      clientId: 'hospital-7',
    },
    responses: { 201: { description: 'The connection and its secrets.', schema: CreatedConnectionSchema } },
    handle: async ({ body }, context) => {
      requireUuids(body.facilityIds);
      return { status: 201, body: await createCovering(deps, context, body) };
    },
  });
}

export function readConnectionRoute(deps: ManageDependencies): Route<Access> {
  return facilityRoute(CONNECTION_ACCESS, {
    docs: { operationId: 'readExchangeConnection', summary: 'Read one connection, without its secrets', tag },
    params: ConnectionParams,
    responses: { 200: { description: 'The connection.', schema: ConnectionSchema } },
    handle: async ({ params }, { scope }) => {
      const found = await readConnection(deps.db, scope, params.connectionId);
      return { body: connectionView(found, deps.publicBaseUrl) };
    },
  });
}

export function changeConnectionRoute(deps: ManageDependencies): Route<Access> {
  return facilityRoute(CONNECTION_ACCESS, {
    docs: {
      operationId: 'changeExchangeConnection',
      summary: 'Change settings of a connection',
      description: 'If you take a facility out, what waits for its patients is held until somebody decides.',
      tag,
    },
    params: ConnectionParams,
    body: ConnectionChangesBody,
    bodyExample: { timeoutMs: 10_000 },
    responses: { 200: { description: 'The connection as it is now.', schema: ConnectionSchema } },
    handle: async ({ params, body }, context) => {
      requireUuids(body.facilityIds);
      const changed = await changeManagedConnection(deps, context, params.connectionId, body);
      return { body: connectionView(changed, deps.publicBaseUrl) };
    },
  });
}

function requireUuids(facilityIds: readonly string[] = []): void {
  if (!facilityIds.every(isUuid))
    throw badRequest({
      en: 'facilityIds must be UUIDs.',
      fr: 'facilityIds doivent être des UUID.',
    });
}

/** `enable` and `disable`: a disabled connection gets nothing, sends nothing and its callbacks answer 401. */
export function switchConnectionRoute(deps: ManageDependencies, to: 'enable' | 'disable'): Route<Access> {
  return facilityRoute(CONNECTION_ACCESS, {
    docs: {
      operationId: `${to}ExchangeConnection`,
      summary: `${to === 'enable' ? 'Enable' : 'Disable'} a connection`,
      tag,
    },
    params: ConnectionParams,
    responses: { 200: { description: 'The connection as it is now.', schema: ConnectionSchema } },
    handle: async ({ params }, context) => {
      const changed = await changeManagedConnection(deps, context, params.connectionId, {
        disabled: to === 'disable',
      });
      return { body: connectionView(changed, deps.publicBaseUrl) };
    },
  });
}

export function rotateSecretRoute(deps: ManageDependencies): Route<Access> {
  return facilityRoute(CONNECTION_ACCESS, {
    docs: {
      operationId: 'rotateExchangeSecret',
      summary: 'Give a connection new secrets',
      description:
        'Only this answer shows the new secrets. Callbacks with the old secret are accepted too until the overlap ends. ' +
        'Requests to the exchange are signed with the old secret until `activateAt`, or until the new one is activated.',
      tag,
    },
    params: ConnectionParams,
    body: RotationBody,
    bodyExample: { direction: 'callback', overlapSeconds: 86_400 },
    responses: { 200: { description: 'The new secrets.', schema: RotatedSchema } },
    handle: async ({ params, body }, context) => ({
      body: await rotateManaged(deps, context, params.connectionId, rotationOf(body)),
    }),
  });
}

function rotationOf({
  activateAt,
  activateNow = false,
  ...rest
}: Static<typeof RotationBody>): Partial<SecretRotation> {
  if (activateAt === undefined) return activateNow ? { ...rest, activate: 'now' } : rest;
  if (activateNow)
    throw badRequest({
      en: 'Give activateAt or activateNow, not both.',
      fr: 'Donnez activateAt ou activateNow, mais pas les deux.',
    });
  const activate = parseDateTime(activateAt);
  if (activate?.precision !== 'time')
    throw badRequest({
      en: 'activateAt must be a date-time with a zone, such as 2026-03-01T08:00:00Z.',
      fr: 'activateAt doit être une date avec heure et fuseau, par exemple 2026-03-01T08:00:00Z.',
    });
  return { ...rest, activate: activate.span('UTC').start };
}

export function activateSecretRoute(deps: ManageDependencies): Route<Access> {
  return facilityRoute(CONNECTION_ACCESS, {
    docs: {
      operationId: 'activateExchangeSecret',
      summary: 'Sign with the new outbound secret from now on',
      description:
        'Call this when the exchange has the new secret of a rotation. The old secret is no longer used.',
      tag,
    },
    params: ConnectionParams,
    responses: {
      200: { description: 'The connection as it is now.', schema: ConnectionSchema },
      409: { description: 'There is no new secret to activate.' },
    },
    handle: async ({ params }, context) => {
      const changed = await activateManaged(deps, context, params.connectionId);
      return { body: connectionView(changed, deps.publicBaseUrl) };
    },
  });
}

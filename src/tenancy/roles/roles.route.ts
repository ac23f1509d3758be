/** /roles: administrators manage what accounts may do. Contract: ADM-11, ADM-12, ADM-13, ADM-14. */

import type { Pool } from '../../platform/db/database.ts';
import { type ListDependencies, PAGE_PARAMETERS, pageSchema } from '../../platform/http/paging.ts';
import type { Route } from '../../platform/http/route.ts';
import { Type } from '../../platform/json-schema.ts';
import { authorOf } from '../administration/author.ts';
import { type Access, administrationRoute } from '../callers/access.ts';
import { PERMISSIONS, PRESETS } from './permissions.ts';
import {
  ListedRoleSchema,
  NewRoleBody,
  PermissionListSchema,
  RoleChangesBody,
  RoleSchema,
} from './role.schema.ts';
import { changeRole, createRole, listRolePage, removeRole } from './roles.ts';

interface Dependencies {
  db: Pool;
}

const MANAGING = ['roles.manage'] as const;
const READING = ['roles.manage', 'accounts.manage', 'people.manage'] as const;
const RoleParams = Type.Object({ roleId: Type.String() });
const REFUSED = {
  409: { description: 'Another role has the name, or nobody could administer the organisation any more.' },
};

export function listRolesRoute(deps: ListDependencies): Route<Access> {
  return administrationRoute(READING, {
    docs: { operationId: 'listRoles', summary: 'List the roles of the organisation' },
    query: Type.Object({
      search: Type.Optional(Type.String({ maxLength: 200, description: 'A part of the name.' })),
      ...PAGE_PARAMETERS,
    }),
    responses: { 200: { description: 'By name.', schema: pageSchema(ListedRoleSchema) } },
    handle: async ({ query }, { scope }) => ({
      body: await listRolePage(deps, scope, query),
    }),
  });
}

export function createRoleRoute({ db }: Dependencies): Route<Access> {
  return administrationRoute(MANAGING, {
    docs: {
      operationId: 'createRole',
      summary: 'Create a role',
      description: 'It may have only permissions that you hold yourself.',
    },
    body: NewRoleBody,
    bodyExample: { name: 'reader', permissions: ['patients.patients.list', 'encounters.access'] },
    responses: { 201: { description: 'The role.', schema: RoleSchema }, ...REFUSED },
    handle: async ({ body }, context) => {
      const { organisationId } = context.scope;
      const role = await createRole(db, { ...body, organisationId }, authorOf(context));
      return { status: 201, body: role };
    },
  });
}

export function changeRoleRoute({ db }: Dependencies): Route<Access> {
  return administrationRoute(MANAGING, {
    docs: {
      operationId: 'changeRole',
      summary: 'Change a role',
      description:
        'From the next call on, for all who hold it. You must hold every permission that it has before and after, and use every facility at which somebody holds it.',
    },
    params: RoleParams,
    body: RoleChangesBody,
    bodyExample: { permissions: ['patients.patients.list'] },
    responses: { 200: { description: 'The role as it is now.', schema: RoleSchema }, ...REFUSED },
    handle: async ({ params, body }, context) => {
      const { organisationId } = context.scope;
      const change = { organisationId, role: { id: params.roleId }, changes: body };
      const { role } = await changeRole(db, change, authorOf(context));
      return { body: role };
    },
  });
}

export function deleteRoleRoute({ db }: Dependencies): Route<Access> {
  return administrationRoute(MANAGING, {
    docs: { operationId: 'deleteRole', summary: 'Delete a role that no account holds' },
    params: RoleParams,
    responses: { 204: { description: 'Deleted.' }, 409: { description: 'An account holds it.' } },
    handle: async ({ params }, context) => {
      const { organisationId } = context.scope;
      await removeRole(db, { organisationId, role: { id: params.roleId } }, authorOf(context));
      return { status: 204 };
    },
  });
}

/** A call, and the permissions each of which opens it. */
export interface OpenedCall {
  method: string;
  path: string;
  summary: string;
  permissions: readonly string[];
}

/** `calls`: every route of the service, so that the list is never out of date. */
export function listPermissionsRoute(calls: () => readonly OpenedCall[]): Route<Access> {
  return administrationRoute(READING, {
    docs: { operationId: 'listPermissions', summary: 'List the permissions, and what each opens' },
    responses: { 200: { description: 'All of them.', schema: PermissionListSchema } },
    handle: async () => {
      const items = Object.entries(PERMISSIONS).map(([name, allows]) => ({
        name,
        allows,
        opens: calls()
          .filter(({ permissions }) => permissions.includes(name))
          .map(({ method, path, summary }) => ({ method, path, summary })),
      }));
      return { body: { items, presets: PRESETS } };
    },
  });
}

/** Making and changing roles. Contract: ACC-20. */
import { randomUUID } from 'node:crypto';
import { type Pool, transaction } from '../../platform/db/database.ts';
import { tenancyError } from '../errors.ts';
import { notifyLive } from '../live.ts';
import { requireOrganisation } from '../organisations/facilities.ts';
import { checkedName } from '../organisations/name.ts';
import { isPermission, PERMISSIONS } from './permissions.ts';
import { insertRole, listRoles, type Role, replacePermissions } from './role.store.ts';

export interface RoleInput {
  organisationId: string;
  name: string;
  permissions: readonly string[];
  /** Whether its people need a second factor. Default: no, or as it was. */
  requiresSecondFactor?: boolean | undefined;
}

export async function createRole(db: Pool, input: RoleInput): Promise<{ id: string }> {
  const name = checkedName(input.name);
  const permissions = checkedPermissions(input.permissions);
  await requireOrganisation(db, input.organisationId);
  const id = randomUUID();
  if (
    !(await insertRole(db, input, {
      id,
      name,
      permissions,
      requiresSecondFactor: input.requiresSecondFactor === true,
    }))
  )
    throw tenancyError('role_exists', { name });
  return { id };
}

/** Make `permissions` the ones of the role; every node knows with the next call. */
export async function setPermissions(db: Pool, input: RoleInput): Promise<{ id: string }> {
  const { organisationId, name, requiresSecondFactor } = input;
  const permissions = checkedPermissions(input.permissions);
  await requireOrganisation(db, organisationId);
  const id = await transaction(db, async (client) => {
    await notifyLive(client, { organisationId });
    return replacePermissions(client, input, { name, permissions, requiresSecondFactor });
  });
  if (id === undefined) throw tenancyError('unknown_role', input);
  return { id };
}

/** Throws when the organisation has no role of that name. */
export async function requireRole(db: Pool, input: { organisationId: string; name: string }): Promise<Role> {
  const [role] = await listRoles(db, input, input.name);
  if (role === undefined) throw tenancyError('unknown_role', input);
  return role;
}

/** The permissions with what each allows, for the help of commands. */
export function permissionsHelp(): string {
  const lines = Object.entries(PERMISSIONS).map(([name, allows]) => `  ${name.padEnd(36)}${allows}`);
  return `\nPermissions:\n${lines.join('\n')}`;
}

function checkedPermissions(permissions: readonly string[]): string[] {
  if (permissions.length === 0) throw tenancyError('no_permissions', { field: 'permissions' });
  const unknown = permissions.filter((name) => !isPermission(name));
  if (unknown.length > 0) throw tenancyError('unknown_permission', { names: unknown });
  return [...new Set(permissions)].sort();
}

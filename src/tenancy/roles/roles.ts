/** Making and changing roles. Contract: ACC-20. */
import { randomUUID } from 'node:crypto';
import { CommandError, UsageError } from '../../platform/command/command.ts';
import { type Pool, transaction } from '../../platform/db/database.ts';
import { notifyLive } from '../live.ts';
import { requireOrganisation } from '../organisations/facilities.ts';
import { checkedName } from '../organisations/name.ts';
import { isPermission, PERMISSIONS } from './permissions.ts';
import { insertRole, listRoles, type Role, replacePermissions } from './role.store.ts';

export interface RoleInput {
  organisationId: string;
  name: string;
  permissions: readonly string[];
}

export async function createRole(db: Pool, input: RoleInput): Promise<{ id: string }> {
  const name = checkedName(input.name);
  const permissions = checkedPermissions(input.permissions);
  await requireOrganisation(db, input.organisationId);
  const id = randomUUID();
  if (!(await insertRole(db, input, { id, name, permissions })))
    throw new CommandError(
      `This organisation already has a role named ${name}. Change it with: npx interchange role set-permissions`,
    );
  return { id };
}

/** Make `permissions` the ones of the role; every node knows with the next call. */
export async function setPermissions(db: Pool, input: RoleInput): Promise<{ id: string }> {
  const { organisationId, name } = input;
  const permissions = checkedPermissions(input.permissions);
  await requireOrganisation(db, organisationId);
  const id = await transaction(db, async (client) => {
    await notifyLive(client, { organisationId });
    return replacePermissions(client, input, { name, permissions });
  });
  if (id === undefined) throw unknownRole(input);
  return { id };
}

/** Throws when the organisation has no role of that name. */
export async function requireRole(db: Pool, input: { organisationId: string; name: string }): Promise<Role> {
  const [role] = await listRoles(db, input, input.name);
  if (role === undefined) throw unknownRole(input);
  return role;
}

/** The permissions with what each allows, for the help of commands. */
export function permissionsHelp(): string {
  const lines = Object.entries(PERMISSIONS).map(([name, allows]) => `  ${name.padEnd(36)}${allows}`);
  return `\nPermissions:\n${lines.join('\n')}`;
}

function unknownRole({ organisationId, name }: { organisationId: string; name: string }): CommandError {
  return new CommandError(
    `This organisation has no role ${name}. List its roles with: npx interchange role list --organisation ${organisationId}`,
  );
}

function checkedPermissions(permissions: readonly string[]): string[] {
  if (permissions.length === 0)
    throw new UsageError(
      '--permissions is empty. Example: --permissions encounters.access,patients.patients.list',
    );
  const unknown = permissions.filter((name) => !isPermission(name));
  if (unknown.length > 0)
    throw new UsageError(
      `The permission ${unknown.join(', ')} is unknown. List all permissions with: npx interchange role create --help`,
    );
  return [...new Set(permissions)].sort();
}

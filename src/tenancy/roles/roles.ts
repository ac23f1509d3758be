/**
 * Listing, making, changing and deleting roles, for administrators and the operator.
 * Contract: ACC-20, ADM-3, ADM-5, ADM-11, ADM-13, ADM-69.
 */
import { randomUUID } from 'node:crypto';
import type { Client, Pool, Queryable } from '../../platform/db/database.ts';
import { type ListDependencies, openPage, type Page, type PageRequest } from '../../platform/http/paging.ts';
import { isUuid } from '../../platform/uuid.ts';
import { administer } from '../administration/administer.ts';
import { type Author, OPERATOR } from '../administration/author.ts';
import { type Manager, requireHeld, requirePermission } from '../administration/manager.ts';
import { recordChange } from '../audit/audit.ts';
import type { AuditAction } from '../audit/audit-entry.ts';
import { notFound, tenancyError } from '../errors.ts';
import { checkedName } from '../organisations/name.ts';
import type { OrganisationScope } from '../scope.ts';
import { isPermission, PERMISSIONS } from './permissions.ts';
import {
  deleteRole,
  deleteSetupLinksOfHolders,
  findRole,
  holdersActWithin,
  insertRole,
  type ListedRole,
  listRoles,
  type Role,
  type RoleKey,
  updateRole,
} from './role.store.ts';

export interface RoleInput {
  organisationId: string;
  name: string;
  permissions: readonly string[];
  /** Whether its people need a second factor. Default: no, or as it was. */
  requiresSecondFactor?: boolean | undefined;
}

/** What is left out stays as it is. */
export interface RoleChanges {
  name?: string | undefined;
  permissions?: readonly string[] | undefined;
  requiresSecondFactor?: boolean | undefined;
}

/** 400 for a cursor of another list. */
export async function listRolePage(
  { db, cursors }: ListDependencies,
  scope: OrganisationScope,
  { search, ...request }: PageRequest & { search?: string | undefined },
): Promise<Page<ListedRole>> {
  const page = openPage<readonly [name: string]>(cursors, request, ['roles', scope.organisationId, search]);
  return page.close(await listRoles(db, scope, { ...page.slice, search }), ({ name }) => [name]);
}

export async function createRole(db: Pool, input: RoleInput, author: Author): Promise<Role> {
  const role = {
    id: randomUUID(),
    name: checkedName(input.name),
    permissions: checkedPermissions(input.permissions),
    requiresSecondFactor: input.requiresSecondFactor ?? false,
  };
  await administer(db, input, author, async (client, manager) => {
    requirePermission(manager, ['roles.manage']);
    requireHeld(manager, role.permissions);
    if (!(await insertRole(client, input, role))) throw tenancyError('role_exists', { name: role.name });
    await recordRole(client, input, author, { action: 'role.create', role, after: role });
  });
  return role;
}

/** Every node knows with the next call. 403 for whoever may not grant what the role has, before and after. Contract: ADM-78. */
export async function changeRole(
  db: Pool,
  { organisationId, role: key, changes }: OrganisationScope & { role: RoleKey; changes: RoleChanges },
  author: Author,
): Promise<{ role: Role; changed: boolean }> {
  const scope = { organisationId };
  const name = changes.name === undefined ? undefined : checkedName(changes.name);
  const permissions = changes.permissions === undefined ? undefined : checkedPermissions(changes.permissions);
  return administer(db, scope, author, async (client, manager) => {
    const role = await requireManagedRole(client, scope, { key, manager });
    const next = {
      id: role.id,
      name: name ?? role.name,
      permissions: permissions ?? role.permissions,
      requiresSecondFactor: changes.requiresSecondFactor ?? role.requiresSecondFactor,
    };
    requireHeld(manager, next.permissions);
    if (!(await updateRole(client, scope, next))) throw tenancyError('role_exists', { name: next.name });
    // Whoever has a link of before was trusted with the rights of then.
    if (next.permissions.some((one) => !role.permissions.includes(one)))
      await deleteSetupLinksOfHolders(client, scope, role.id);
    const changed = await recordRole(client, scope, author, {
      action: 'role.change',
      role,
      before: role,
      after: next,
    });
    return { role: next, changed };
  });
}

/** Make `permissions` the ones of the role, for the operator. */
export async function setPermissions(db: Pool, input: RoleInput): Promise<{ id: string; changed: boolean }> {
  const { organisationId, name, permissions, requiresSecondFactor } = input;
  const changes = { permissions, requiresSecondFactor };
  const { role, changed } = await changeRole(db, { organisationId, role: { name }, changes }, OPERATOR);
  return { id: role.id, changed };
}

/** 409 while an account holds it. */
export async function removeRole(
  db: Pool,
  { organisationId, role: key }: OrganisationScope & { role: RoleKey },
  author: Author,
): Promise<void> {
  const scope = { organisationId };
  await administer(db, scope, author, async (client, manager) => {
    const role = await requireManagedRole(client, scope, { key, manager });
    if (!(await deleteRole(client, scope, role.id))) throw tenancyError('role_held');
    await recordRole(client, scope, author, { action: 'role.delete', role, before: role });
  });
}

async function requireManagedRole(
  client: Client,
  scope: OrganisationScope,
  { key, manager }: { key: RoleKey; manager: Manager },
): Promise<Role> {
  requirePermission(manager, ['roles.manage']);
  const role = await requireRole(client, { ...scope, ...key });
  requireHeld(manager, role.permissions);
  const facilityIds = [...manager.facilityIds];
  if (
    manager.accountId !== null &&
    !(await holdersActWithin(client, scope, { roleId: role.id, facilityIds }))
  )
    throw tenancyError('facility_not_held');
  return role;
}

/** Throws when the organisation has no role of that name or id. */
export async function requireRole(db: Queryable, input: OrganisationScope & RoleKey): Promise<Role> {
  const role = 'id' in input && !isUuid(input.id) ? undefined : await findRole(db, input, input);
  if (role !== undefined) return role;
  throw 'name' in input ? tenancyError('unknown_role', input) : notFound('The role');
}

/** The permissions with what each allows, for the help of commands: a table of 80 columns. */
export function permissionsHelp(): string {
  const lines = Object.entries(PERMISSIONS).map(
    ([name, allows]) =>
      `  ${name.padEnd(36)}${allows.match(/\S.{0,41}(?= |$)/g)?.join(`\n${' '.repeat(38)}`)}`,
  );
  return `\nPermissions:\n${lines.join('\n')}`;
}

function checkedPermissions(permissions: readonly string[]): string[] {
  if (permissions.length === 0) throw tenancyError('no_permissions', { field: 'permissions' });
  const unknown = permissions.filter((name) => !isPermission(name));
  if (unknown.length > 0) throw tenancyError('unknown_permission', { names: unknown });
  return [...new Set(permissions)].sort();
}

interface RecordedRole {
  action: AuditAction;
  role: Role;
  before?: Role;
  after?: Role;
}

/** False where nothing was changed. */
async function recordRole(
  client: Client,
  scope: OrganisationScope,
  author: Author,
  { action, role: { id, name }, before, after }: RecordedRole,
): Promise<boolean> {
  return recordChange(client, scope, author, {
    action,
    subject: { type: 'role', id, name },
    facilityIds: null,
    ...(before && { before: membersOf(before) }),
    ...(after && { after: membersOf(after) }),
  });
}

function membersOf({ name, permissions, requiresSecondFactor }: Role) {
  return { name, permissions, requiresSecondFactor };
}

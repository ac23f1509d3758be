/**
 * The one way in which accounts, roles and facilities of an organisation are changed: one change at a time, decided by
 * the rights of that moment (docs/adr/0140).
 * Contract: ACC-18, ADM-2, ADM-6.
 */
import { type Client, type Pool, transaction } from '../../platform/db/database.ts';
import { isUuid } from '../../platform/uuid.ts';
import { tenancyError } from '../errors.ts';
import { notifyLive } from '../live.ts';
import type { Module } from '../organisations/modules.ts';
import { isModuleOn } from '../organisations/organisation.store.ts';
import type { Permission } from '../roles/permissions.ts';
import type { OrganisationScope } from '../scope.ts';
import type { Author } from './author.ts';
import { hasAdministrator, lockAdministration, readManager } from './manager.store.ts';
import { type Manager, requireOwnFacilities, requirePermission } from './manager.ts';

const NOTHING: ReadonlySet<string> = new Set();

/**
 * Do `work` in a transaction that all other changes of the organisation wait for. Every node knows of it with the next
 * call. Throws for an unknown organisation, and 409 when it would take away the last administrator; what it did is undone
 * then.
 */
export async function administer<T>(
  db: Pool,
  { organisationId }: OrganisationScope,
  author: Author,
  work: (client: Client, manager: Manager) => Promise<T>,
): Promise<T> {
  if (!isUuid(organisationId)) throw tenancyError('malformed_id', { field: 'organisationId' });
  const scope = { organisationId };
  return transaction(db, async (client) => {
    if (!(await lockAdministration(client, scope))) throw tenancyError('unknown_organisation', scope);
    const manager = await managerOf(client, scope, author);
    // The operator makes a new administrator when there is none.
    const mustKeep = author.kind === 'account' && (await hasAdministrator(client, scope));
    const result = await work(client, manager);
    if (mustKeep && !(await hasAdministrator(client, scope))) throw tenancyError('last_administrator');
    await notifyLive(client, scope);
    return result;
  });
}

/**
 * For a change that waited for a lock, behind it: 401 for whoever lost the session meanwhile, 403 for whoever lost the
 * permission or a facility, or where the module that the call needs is off at its facility by now. Returns who makes the
 * change, with the rights of that moment.
 */
export async function requireStillHeld(
  client: Client,
  scope: OrganisationScope,
  {
    author,
    permission,
    facilityIds,
    module,
  }: {
    author: Author;
    permission: Permission;
    facilityIds: readonly string[];
    module?: { name: Module; facilityId: string };
  },
): Promise<Manager> {
  const manager = await managerOf(client, scope, author);
  requirePermission(manager, [permission]);
  requireOwnFacilities(manager, facilityIds);
  if (module !== undefined && author.kind === 'account' && !(await isModuleOn(client, scope, module)))
    throw tenancyError('module_disabled', { module: module.name });
  return manager;
}

/**
 * Read behind the lock. 401 for who was disabled, whose session ended, or whose role came to require a second factor that is
 * not proven, while waiting for it.
 */
async function managerOf(client: Client, scope: OrganisationScope, author: Author): Promise<Manager> {
  if (author.kind === 'operator') return { accountId: null, permissions: NOTHING, facilityIds: NOTHING };
  const row = await readManager(client, scope, author);
  if (row === undefined) throw tenancyError('session_ended');
  return {
    accountId: author.accountId,
    permissions: new Set(row.permissions),
    facilityIds: new Set(row.facilityIds),
  };
}

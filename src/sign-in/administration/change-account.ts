/**
 * Changes the address, the role and the facilities of an account, all or nothing.
 * Contract: ADM-3, ADM-7, ADM-8, ADM-18, ADM-79.
 */
import type { Client, Pool } from '../../platform/db/database.ts';
import { type Manager, requireHeld, requireOwnFacilities } from '../../tenancy/administration/manager.ts';
import type { RoleKey } from '../../tenancy/roles/role.store.ts';
import { requireRole } from '../../tenancy/roles/roles.ts';
import { checkedEmail, checkedFacilities } from '../accounts/create-account.ts';
import { deleteUnusedSetupLinks } from '../credentials/setup-link.store.ts';
import { signInError } from '../errors.ts';
import { replaceFacilities, updateEmail, updateRoleOf } from './change-account.store.ts';
import type { ManagedAccount } from './managed-account.store.ts';
import { type AccountChange, changeManagedAccount, recordAccount, refuseOwn } from './managed-account.ts';

/** What is left out stays as it is. */
export interface AccountChanges {
  email?: string | undefined;
  role?: RoleKey | undefined;
  /** All of them; the first is the default one. */
  facilityIds?: readonly string[] | undefined;
}

type Held = ManagedAccount & { organisationId: string };

/** 403 for a role or facilities that the author may not give, 409 for the own role and an address that is taken. */
export async function changeAccount(
  db: Pool,
  change: AccountChange & { changes: AccountChanges },
): Promise<{ userId: string; email: string; changed: boolean }> {
  const { changes, author } = change;
  const email = changes.email === undefined ? undefined : checkedEmail(changes.email);
  return changeManagedAccount(db, change, async (client, account, manager) => {
    const role = await moveToRole(client, account, { manager, key: changes.role });
    const { facilityIds, defaultFacilityId } = await moveToFacilities(client, account, {
      manager,
      facilityIds: changes.facilityIds,
    });
    const hasMore = role !== account.role || facilityIds.some((id) => !account.facilityIds.includes(id));
    const isMoved = email !== undefined && email !== account.email;
    // Whoever has a link of before could not give these rights, or got it at an address that was wrong.
    if (hasMore || isMoved) await deleteUnusedSetupLinks(client, account, account.userId);
    // Before the address is another one: the entry has that of its author as it was, and the account may be the author's.
    const changed = await recordAccount(client, account, author, {
      action: 'account.change',
      facilityIds: [...new Set([...account.facilityIds, ...facilityIds])],
      before: partsOf(account),
      after: { email: email ?? account.email, role, facilityIds, defaultFacilityId },
    });
    // Last: a refusal by the database ends the transaction.
    if (isMoved) {
      const { userId: accountId } = account;
      if (!(await updateEmail(client, account, { accountId, email })))
        throw signInError('account_exists', { email });
    }
    return { userId: account.userId, email: email ?? account.email, changed };
  });
}

/** The name of the role that it has then. */
async function moveToRole(
  client: Client,
  account: Held,
  { manager, key }: { manager: Manager; key: RoleKey | undefined },
): Promise<string> {
  if (key === undefined) return account.role;
  const { organisationId, userId: accountId } = account;
  const role = await requireRole(client, { organisationId, ...key });
  if (role.id === account.roleId) return role.name;
  refuseOwn(manager, account, 'change the role of their own account');
  requireHeld(manager, role.permissions);
  await updateRoleOf(client, account, { accountId, roleId: role.id });
  return role.name;
}

/** As the record of changes has them. */
function partsOf({ email, role, facilityIds, defaultFacilityId }: Held) {
  return { email, role, facilityIds, defaultFacilityId };
}

/** The facilities that it has then. */
async function moveToFacilities(
  client: Client,
  account: Held,
  { manager, facilityIds }: { manager: Manager; facilityIds: readonly string[] | undefined },
): Promise<Pick<Held, 'facilityIds' | 'defaultFacilityId'>> {
  if (facilityIds === undefined) return account;
  if (facilityIds.length === 0) refuseOwn(manager, account, 'take the last facility from their own account');
  requireOwnFacilities(manager, facilityIds);
  const checked = await checkedFacilities(client, { ...account, facilityIds });
  await replaceFacilities(client, account, { accountId: account.userId, facilityIds: checked });
  return { facilityIds: [...checked].sort(), defaultFacilityId: checked[0] ?? null };
}

/**
 * An account that somebody changes: found, held, and theirs to change (docs/adr/0140).
 * Contract: ADM-1, ADM-4.
 */

import type { Client, Pool } from '../../platform/db/database.ts';
import { isUuid } from '../../platform/uuid.ts';
import { administer } from '../../tenancy/administration/administer.ts';
import { type Author, OPERATOR } from '../../tenancy/administration/author.ts';
import {
  type Manager,
  requireHeld,
  requireOwnFacilities,
  requirePermission,
  usesAny,
} from '../../tenancy/administration/manager.ts';
import { recordChange } from '../../tenancy/audit/audit.ts';
import type { AuditEntry } from '../../tenancy/audit/audit-entry.ts';
import { notFound, tenancyError } from '../../tenancy/errors.ts';
import type { OwnChange } from '../../tenancy/own-changes.ts';
import type { Permission } from '../../tenancy/roles/permissions.ts';
import { type DirectoryEntry, findByEmail, findByUserId, type UserType } from '../accounts/account.store.ts';
import { normaliseEmail } from '../accounts/email.ts';
import { signInError } from '../errors.ts';
import { lockManagedAccount, type ManagedAccount } from './managed-account.store.ts';

/** The permission that manages accounts of a type. */
export const MANAGING: Readonly<Record<UserType, Permission>> = {
  EHR: 'accounts.manage',
  STAFF: 'people.manage',
};

/** How an account is named: at the command line by its address, over HTTP by its id in an organisation. */
export type AccountKey = { email: string } | { organisationId: string; accountId: string };

/** Who changes which account. */
export interface AccountChange {
  key: AccountKey;
  author: Author;
}

/** The operator, who names an account by its address. */
export function operatorOn(email: string): AccountChange {
  return { key: { email }, author: OPERATOR };
}

/** What is done to an account that is held until the end of the transaction. */
export type ManagedWork<T> = (
  client: Client,
  account: ManagedAccount & { organisationId: string },
  manager: Manager,
) => Promise<T>;

/** 404 for an account that the author does not see, 403 for one that has more rights than the author. */
export async function changeManagedAccount<T>(
  db: Pool,
  { key, author }: AccountChange,
  work: ManagedWork<T>,
): Promise<T> {
  const { organisationId, userId } = 'email' in key ? await requireEntry(db, key) : placeOf(key);
  return administer(db, { organisationId }, author, async (client, manager) => {
    requirePermission(manager, Object.values(MANAGING));
    const account = await lockManagedAccount(client, { organisationId }, userId);
    if (account === undefined || !isSeen(manager, account)) throw notFound('The account');
    requireHeld(manager, account.permissions);
    requireOwnFacilities(manager, account.facilityIds);
    return work(client, { ...account, organisationId }, manager);
  });
}

function isSeen(manager: Manager, { userType, facilityIds }: ManagedAccount): boolean {
  if (manager.accountId === null) return true;
  return manager.permissions.has(MANAGING[userType]) && usesAny(manager, facilityIds);
}

/** Not looked up before its turn: one that is not seen and none at all would be answered in different times. */
function placeOf({ organisationId, accountId }: Exclude<AccountKey, { email: string }>) {
  if (!isUuid(accountId)) throw notFound('The account');
  return { organisationId, userId: accountId };
}

/** Where the account lives. Throws `unknown_account` for an address, 404 for an id. */
export async function requireEntry(db: Pool, key: AccountKey): Promise<DirectoryEntry> {
  if ('email' in key) {
    const entry = await findByEmail(db, normaliseEmail(key.email));
    if (entry === undefined) throw signInError('unknown_account', { email: key.email });
    return entry;
  }
  const entry = isUuid(key.accountId) ? await findByUserId(db, key.accountId) : undefined;
  if (entry?.organisationId !== key.organisationId) throw notFound('The account');
  return entry;
}

/** 403 for accounts of a type that the manager's role does not manage. */
export function requireType(manager: Manager, userType: UserType): void {
  if (manager.accountId !== null && !manager.permissions.has(MANAGING[userType]))
    throw signInError('account_type_refused', { userType });
}

/** 409 for what nobody does to their own account: `disable their own account`. */
export function refuseOwn(manager: Manager, account: ManagedAccount, change: OwnChange): void {
  if (manager.accountId === account.userId) throw tenancyError('own_account', { change });
}

/** Keep on record what was done to an account. False where nothing was changed. */
export async function recordAccount(
  client: Client,
  account: ManagedAccount & { organisationId: string },
  author: Author,
  change: Pick<AuditEntry, 'action' | 'before' | 'after'> & { facilityIds?: readonly string[] },
): Promise<boolean> {
  const { userId: id, email: name, facilityIds } = account;
  return recordChange(client, account, author, {
    ...change,
    subject: { type: 'account', id, name },
    facilityIds: change.facilityIds ?? facilityIds,
  });
}

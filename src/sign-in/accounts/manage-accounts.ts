/**
 * Disabling, enabling, unlocking and giving new passwords to accounts, in force on every node at once.
 * Contract: SIGN-IN-18, SIGN-IN-48, ADM-4, ADM-7, ADM-17, ADM-18.
 */
import type { KeyRing } from '../../platform/crypto/key-ring.ts';
import { type Client, type Pool, transaction } from '../../platform/db/database.ts';
import { type DatabaseTime, readDatabaseTime } from '../../platform/db/database-time.ts';
import type { OrganisationScope } from '../../tenancy/scope.ts';
import {
  type AccountChange,
  changeManagedAccount,
  recordAccount,
  refuseOwn,
  requireEntry,
} from '../administration/managed-account.ts';
import { deleteUnusedSetupLinks } from '../credentials/setup-link.store.ts';
import { unlock, vouchFor } from '../lockout/lockout.ts';
import { revokeSessionsOf, revokeSomeSessionsOf } from '../sessions/session.store.ts';
import { type DirectoryEntry, lockCredentials, storePassword } from './account.store.ts';
import type { CreatedAccount, ManageAccountDependencies } from './create-account.ts';
import { choosePassword, type PasswordSource, revealOnce } from './initial-password.ts';
import { setDisabled } from './manage-accounts.store.ts';

export interface SwitchedAccount {
  userId: string;
  email: string;
  disabled: boolean;
}

/**
 * The account can sign in no more, and its sessions end. Being disabled alone takes every right from them: where they are very
 * many, what is left of them is ended behind it.
 */
export async function disableAccount(
  db: Pool,
  change: AccountChange,
  databaseTime: DatabaseTime,
): Promise<SwitchedAccount> {
  const { isMore, organisationId, ...state } = await changeManagedAccount(
    db,
    change,
    async (client, account, manager) => {
      const { userId, email, disabled, organisationId } = account;
      refuseOwn(manager, account, 'disable their own account');
      const now = await readDatabaseTime(client, databaseTime);
      await setDisabled(client, account, { accountId: userId, disabledAt: now });
      const isMore = await endSomeSessions(client, account, { accountId: userId, now });
      await recordAccount(client, account, change.author, {
        action: 'account.disable',
        before: { disabled },
        after: { disabled: true },
      });
      return { userId, email, disabled: true, isMore, organisationId };
    },
  );
  let isLeft = isMore;
  while (isLeft)
    isLeft = await transaction(db, async (client) => {
      const held = await lockCredentials(client, { organisationId }, state.userId);
      if (held?.disabled !== true) return false;
      const now = await readDatabaseTime(client, databaseTime);
      return endSomeSessions(client, { organisationId }, { accountId: state.userId, now });
    });
  return state;
}

/** The account can sign in again; sessions that ended stay ended. */
export async function enableAccount(
  db: Pool,
  change: AccountChange,
  databaseTime: DatabaseTime = null,
): Promise<SwitchedAccount> {
  const state = await changeManagedAccount(db, change, async (client, account) => {
    const { userId: accountId, email, disabled } = account;
    const now = await readDatabaseTime(client, databaseTime);
    // Sessions that are left where a process died while it disabled the account. None of them may come back.
    if (disabled && (await endSomeSessions(client, account, { accountId, now }))) return undefined;
    await setDisabled(client, account, { accountId, disabledAt: null });
    await recordAccount(client, account, change.author, {
      action: 'account.enable',
      before: { disabled },
      after: { disabled: false },
    });
    return { userId: accountId, email, disabled: false };
  });
  return state ?? enableAccount(db, change, databaseTime);
}

/** Of an account that is disabled, in a transaction that holds it. True when more may be left. */
async function endSomeSessions(
  client: Client,
  scope: OrganisationScope,
  { accountId, now }: { accountId: string; now: Date },
): Promise<boolean> {
  const ending = { accountId, reason: 'account-disabled', now } as const;
  return (await revokeSomeSessionsOf(client, scope, ending)).isMore;
}

export interface ResetPasswordDependencies extends ManageAccountDependencies {
  keys: Pick<KeyRing, 'derive'>;
}

export interface PasswordReset extends AccountChange {
  password: PasswordSource;
  /** True raises the flag; false leaves it as it is. */
  mustChangePassword: boolean;
}

/** A new password: sessions, setup links and locks of before are gone. */
export async function resetPassword(
  { db, passwords, publicBaseUrl, keys }: ResetPasswordDependencies,
  reset: PasswordReset,
  databaseTime: DatabaseTime,
): Promise<CreatedAccount> {
  const entry = await requireEntry(db, reset.key);
  const initial = await choosePassword(passwords, reset.password, entry.email);
  return changeManagedAccount(db, reset, async (client, account, manager) => {
    const { userId, email, organisationId } = account;
    refuseOwn(manager, account, 'reset the password of their own account');
    const now = await readDatabaseTime(client, databaseTime);
    const mustChangePassword = reset.mustChangePassword || account.mustChangePassword;
    await storePassword(client, account, {
      accountId: userId,
      passwordHash: initial.hash,
      mustChangePassword,
      now,
    });
    await deleteUnusedSetupLinks(client, account, userId);
    await revokeSessionsOf(client, account, { accountId: userId, reason: 'password-reset', now });
    await unlock(client, keys, userId);
    await recordAccount(client, account, reset.author, {
      action: 'account.reset-password',
      before: { mustChangePassword: account.mustChangePassword },
      after: { password: reset.password.kind, mustChangePassword },
    });
    const link = { organisationId, accountId: userId, publicBaseUrl, now };
    return { userId, email, ...(await revealOnce(client, initial, link)) };
  });
}

/** Lifts every lock of the account; with a network, that one has a counter of its own from now on. */
export async function unlockAccount(
  { db, keys }: Pick<ResetPasswordDependencies, 'db' | 'keys'>,
  { network, ...change }: AccountChange & { network?: string | undefined },
  databaseTime: DatabaseTime,
): Promise<DirectoryEntry> {
  return changeManagedAccount(db, change, async (client, account) => {
    const { userId } = account;
    const unlocked = await unlock(client, keys, userId);
    if (network !== undefined) {
      const now = await readDatabaseTime(client, databaseTime);
      await vouchFor(client, keys, userId, { from: network, now });
    }
    if (unlocked || network !== undefined)
      await recordAccount(client, account, change.author, {
        action: 'account.unlock',
        after: { network },
      });
    return account;
  });
}

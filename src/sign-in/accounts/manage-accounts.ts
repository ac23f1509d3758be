/**
 * Disabling, enabling and giving new passwords to accounts, in force on every node at once.
 * Contract: SIGN-IN-18, SIGN-IN-48.
 */
import type { KeyRing } from '../../platform/crypto/key-ring.ts';
import { type Pool, transaction } from '../../platform/db/database.ts';
import { notifyLive } from '../../tenancy/live.ts';
import { unlock, vouchFor } from '../credentials/lockout.ts';
import { deleteUnusedSetupLinks } from '../credentials/setup-link.store.ts';
import { signInError } from '../errors.ts';
import { revokeSessionsOf } from '../sessions/session.store.ts';
import { type DirectoryEntry, findByEmail, lockCredentials, storePassword } from './account.store.ts';
import type { CreatedAccount, ManageAccountDependencies } from './create-account.ts';
import { normaliseEmail } from './email.ts';
import { choosePassword, type PasswordSource, revealOnce } from './initial-password.ts';
import { setDisabled } from './manage-accounts.store.ts';

export interface AccountState {
  userId: string;
  email: string;
  disabled: boolean;
}

/** The account can sign in no more, and its sessions end. */
export async function disableAccount(db: Pool, email: string, now: Date): Promise<AccountState> {
  const account = await requireAccount(db, email);
  await transaction(db, async (client) => {
    await setDisabled(client, account, { accountId: account.userId, disabledAt: now });
    await revokeSessionsOf(client, account, { accountId: account.userId, reason: 'account-disabled', now });
    await notifyLive(client, { organisationId: account.organisationId });
  });
  return { userId: account.userId, email: account.email, disabled: true };
}

/** The account can sign in again; sessions that ended stay ended. */
export async function enableAccount(db: Pool, email: string): Promise<AccountState> {
  const account = await requireAccount(db, email);
  await transaction(db, async (client) => {
    await setDisabled(client, account, { accountId: account.userId, disabledAt: null });
    await notifyLive(client, { organisationId: account.organisationId });
  });
  return { userId: account.userId, email: account.email, disabled: false };
}

export interface ResetPasswordDependencies extends ManageAccountDependencies {
  keys: Pick<KeyRing, 'derive'>;
}

export interface PasswordReset {
  email: string;
  password: PasswordSource;
  /** True raises the flag; false leaves it as it is. */
  mustChangePassword: boolean;
}

/** A new password: sessions, setup links and locks of before are gone. */
export async function resetPassword(
  { db, passwords, publicBaseUrl, keys }: ResetPasswordDependencies,
  reset: PasswordReset,
  now: Date,
): Promise<CreatedAccount> {
  const account = await requireAccount(db, reset.email);
  const { userId, email, organisationId } = account;
  const initial = await choosePassword(passwords, reset.password, email);
  return transaction(db, async (client) => {
    const held = await lockCredentials(client, account, userId);
    await storePassword(client, account, {
      accountId: userId,
      passwordHash: initial.hash,
      mustChangePassword: reset.mustChangePassword || held?.mustChangePassword === true,
      now,
    });
    await deleteUnusedSetupLinks(client, account, userId);
    await revokeSessionsOf(client, account, { accountId: userId, reason: 'password-reset', now });
    await unlock(client, keys, userId);
    await notifyLive(client, { organisationId });
    const shown = await revealOnce(client, initial, {
      organisationId,
      accountId: userId,
      publicBaseUrl,
      now,
    });
    return { userId, email, ...shown };
  });
}

/** Lifts every lock of the account; with a network, that one has a counter of its own from now on. */
export async function unlockAccount(
  { db, keys }: Pick<ResetPasswordDependencies, 'db' | 'keys'>,
  { email, network }: { email: string; network: string | undefined },
  now: Date,
): Promise<DirectoryEntry> {
  const account = await requireAccount(db, email);
  await transaction(db, async (client) => {
    await unlock(client, keys, account.userId);
    if (network !== undefined) await vouchFor(client, keys, account.userId, { from: network, now });
  });
  return account;
}

async function requireAccount(db: Pool, email: string): Promise<DirectoryEntry> {
  const entry = await findByEmail(db, normaliseEmail(email.trim()));
  if (entry === undefined) throw signInError('unknown_account', { email });
  return entry;
}

/** Removing second factors. Contract: SIGN-IN-67, SIGN-IN-71. */
import { type Client, type Pool, transaction } from '../../platform/db/database.ts';
import { notifyLive } from '../../tenancy/live.ts';
import type { OrganisationScope } from '../../tenancy/scope.ts';
import { type DirectoryEntry, findByEmail, lockCredentials } from '../accounts/account.store.ts';
import { normaliseEmail } from '../accounts/email.ts';
import { signInError } from '../errors.ts';
import { revokeSessionsOf } from '../sessions/session.store.ts';
import { deletePasskeys } from './passkey.store.ts';
import { deleteRecoveryCodes } from './recovery-code.store.ts';
import { readSecondFactor } from './second-factor.store.ts';
import { hasSecondFactor } from './second-factor.ts';
import { deleteTotp } from './totp.store.ts';

/** Recovery codes stand in for another factor: with the last one they go. In a transaction that holds the account. */
export async function forgetCodesOfLast(
  client: Client,
  scope: OrganisationScope,
  accountId: string,
): Promise<void> {
  if (!hasSecondFactor(await readSecondFactor(client, scope, accountId)))
    await deleteRecoveryCodes(client, scope, accountId);
}

/** All of them, for somebody who lost them: the sessions of the account end. In the caller's transaction. */
export async function removeSecondFactors(
  client: Client,
  scope: OrganisationScope,
  { accountId, now }: { accountId: string; now: Date },
): Promise<void> {
  await lockCredentials(client, scope, accountId);
  await deleteTotp(client, scope, accountId);
  await deletePasskeys(client, scope, accountId);
  await deleteRecoveryCodes(client, scope, accountId);
  await revokeSessionsOf(client, scope, { accountId, reason: 'second-factor-removed', now });
  await notifyLive(client, scope);
}

/** What the operator does for a person who lost the factors. */
export async function removeSecondFactorsOf(db: Pool, email: string, now: Date): Promise<DirectoryEntry> {
  const account = await findByEmail(db, normaliseEmail(email.trim()));
  if (account === undefined) throw signInError('unknown_account', { email });
  await transaction(db, (client) => removeSecondFactors(client, account, { accountId: account.userId, now }));
  return account;
}

/** Removing second factors. Contract: SIGN-IN-67, SIGN-IN-71, SIGN-IN-72, ADM-16, ADM-70. */
import type { Client, Pool } from '../../platform/db/database.ts';
import { type DatabaseTime, readDatabaseTime } from '../../platform/db/database-time.ts';
import { notifyLive } from '../../tenancy/live.ts';
import type { OrganisationScope } from '../../tenancy/scope.ts';
import type { DirectoryEntry } from '../accounts/account.store.ts';
import {
  type AccountChange,
  changeManagedAccount,
  recordAccount,
  refuseOwn,
} from '../administration/managed-account.ts';
import { recordOwnChange } from '../administration/record-own-change.ts';
import { forgetProofs, revokeUnprovenSessions } from '../console/console-session.store.ts';
import {
  idsOf,
  type OwnCall,
  type ProofDependencies,
  withOwnPassword,
} from '../credentials/prove-identity.ts';
import { deletePasskeys } from '../passkeys/passkey.store.ts';
import { revokeSessionsOf } from '../sessions/session.store.ts';
import type { RecordedFactor } from './add-factor.ts';
import { deleteRecoveryCodes } from './recovery-code.store.ts';
import { readSecondFactor } from './second-factor.store.ts';
import { hasSecondFactor } from './second-factor.ts';
import { deleteTotp } from './totp.store.ts';

/** One's own. `remove` deletes the factor and tells which it was. */
export async function removeOwnFactor(
  deps: ProofDependencies,
  password: string,
  call: OwnCall,
  remove: (client: Client) => Promise<RecordedFactor>,
): Promise<void> {
  const { caller } = call;
  const { accountId } = caller;
  await withOwnPassword(deps, password, call, async (client, _, now) => {
    const before = await remove(client);
    await clearUpAfterLast(client, caller, { accountId, now });
    await recordOwnChange(client, idsOf(call), { action: 'account.remove-own-factor', before });
  });
  deps.audit('sign-in.second-factor-removed', idsOf(call));
}

/**
 * What its owner leaves behind with the last factor: recovery codes, which stand in for another one, sign-ins that wait
 * for it, which would otherwise be finished without, and sessions in which it was proven. Where the role requires a factor,
 * these are to add another one. In a transaction that holds the account.
 */
async function clearUpAfterLast(
  client: Client,
  scope: OrganisationScope,
  { accountId, now }: { accountId: string; now: Date },
): Promise<void> {
  if (hasSecondFactor(await readSecondFactor(client, scope, accountId))) return;
  await deleteRecoveryCodes(client, scope, accountId);
  await revokeUnprovenSessions(client, scope, { accountId, now });
  await forgetProofs(client, scope, accountId);
  await notifyLive(client, scope);
}

/**
 * All of them, by an administrator or the operator, for a person who lost them: the sessions of the account end. 409 for
 * the own account.
 */
export async function removeSecondFactorsOf(
  db: Pool,
  change: AccountChange,
  databaseTime: DatabaseTime,
): Promise<DirectoryEntry> {
  return changeManagedAccount(db, change, async (client, account, manager) => {
    const { userId: accountId } = account;
    refuseOwn(manager, account, 'remove the second factors of their own account here');
    const now = await readDatabaseTime(client, databaseTime);
    const hadTotp = await deleteTotp(client, account, accountId);
    const hadPasskeys = await deletePasskeys(client, account, accountId);
    await deleteRecoveryCodes(client, account, accountId);
    const reason = 'second-factor-removed';
    const ended = await revokeSessionsOf(client, account, { accountId, reason, now });
    if (hadTotp || hadPasskeys || ended > 0)
      await recordAccount(client, account, change.author, { action: 'account.remove-second-factor' });
    return account;
  });
}

/**
 * The first password of an account, through a one-time setup link.
 * Contract: SIGN-IN-19, SIGN-IN-44, SIGN-IN-46, ADM-77.
 */
import type { KeyRing } from '../../platform/crypto/key-ring.ts';
import { type Pool, transaction } from '../../platform/db/database.ts';
import { notifyLive } from '../../tenancy/live.ts';
import { lockCredentials, storePassword } from '../accounts/account.store.ts';
import { recordOwnChange } from '../administration/record-own-change.ts';
import type { Audit } from '../audit.ts';
import { signInError } from '../errors.ts';
import { vouchFor } from '../lockout/lockout.ts';
import { networkOf } from '../lockout/network.ts';
import { parseOrganisationToken } from '../organisation-token.ts';
import { revokeSessionsOf } from '../sessions/session.store.ts';
import { assertGoodPassword, type Passwords } from './password.ts';
import type { CallContext } from './prove-identity.ts';
import { readSetupLink, useSetupLink } from './setup-link.store.ts';

export interface SetUpPasswordDependencies {
  db: Pool;
  passwords: Passwords;
  keys: Pick<KeyRing, 'derive'>;
  audit: Audit;
}

/** 403 for a link that is unknown, used, too old, or of a disabled account; 400 for a password against the rules. */
export async function setUpPassword(
  { db, passwords, keys, audit }: SetUpPasswordDependencies,
  { token, newCredential }: { token: string; newCredential: string },
  { databaseTime, correlationId, remoteAddress }: CallContext,
): Promise<void> {
  const link = parseOrganisationToken(token);
  if (link === undefined) throw signInError('setup_link_refused');
  const tokenHash = link.hash;
  // A token that is not good costs no hash.
  const account = await readSetupLink(db, link, { tokenHash, databaseTime });
  if (account === undefined) throw signInError('setup_link_refused');
  const { accountId, now } = account;
  await assertGoodPassword(newCredential, account.email);
  const from = networkOf(remoteAddress);
  const passwordHash = await passwords.hash(newCredential, from);
  const used = await transaction(db, async (client) => {
    // The account before the link, as everywhere: two of them in the other order would wait for each other.
    const held = await lockCredentials(client, link, accountId);
    if (held === undefined || held.disabled) return false;
    if (!(await useSetupLink(client, link, { tokenHash, now }))) return false;
    await storePassword(client, link, { accountId, passwordHash, mustChangePassword: false, now });
    await revokeSessionsOf(client, link, { accountId, reason: 'password-changed', now });
    // Whoever keeps the account locked from elsewhere does not keep out who holds the link.
    await vouchFor(client, keys, accountId, { from, now });
    await recordOwnChange(
      client,
      { organisationId: link.organisationId, accountId, correlationId },
      { action: 'account.set-up-password' },
    );
    await notifyLive(client, { organisationId: link.organisationId });
    return true;
  });
  if (!used) throw signInError('setup_link_refused');
  audit('sign-in.password-set-up', { correlationId, accountId, organisationId: link.organisationId });
}

/**
 * Changing a password that is known: clears the flag and ends the old sessions.
 * Contract: SIGN-IN-19, SIGN-IN-42, SIGN-IN-43, ADM-70.
 */
import type { Client } from '../../platform/db/database.ts';
import { notifyLive } from '../../tenancy/live.ts';
import { storePassword } from '../accounts/account.store.ts';
import { recordOwnChange } from '../administration/record-own-change.ts';
import { signInError } from '../errors.ts';
import { revokeSessionsOf } from '../sessions/session.store.ts';
import { assertGoodPassword, canonicalPassword } from './password.ts';
import {
  type CallContext,
  type IdentityProof,
  type ProofDependencies,
  withProvenIdentity,
} from './prove-identity.ts';
import { deleteUnusedSetupLinks } from './setup-link.store.ts';

export interface PasswordChange extends IdentityProof {
  newCredential: string;
}

/** 403, 429 and 503 as at login; behind the right password, 400 for a new one against the rules. */
export async function changePassword(
  deps: ProofDependencies,
  change: PasswordChange,
  context: CallContext,
): Promise<void> {
  await changePasswordOf(deps, change, context, {});
}

/** Where the change is made in a session, that one may go on. `also` is done in the transaction of the change. */
export async function changePasswordOf(
  deps: ProofDependencies,
  change: PasswordChange,
  context: CallContext,
  { keep, also }: { keep?: string; also?: (client: Client) => Promise<void> },
): Promise<void> {
  const { newCredential, credential } = change;
  const { correlationId } = context;
  const account = await withProvenIdentity(deps, change, context, {
    // Behind the proof, so that nobody else can make the service look at passwords.
    async prepare({ email }, { from, now }) {
      if (canonicalPassword(newCredential) === canonicalPassword(credential))
        throw signInError('password_refused', { fault: 'same' });
      await assertGoodPassword(newCredential, email);
      return { passwordHash: await deps.passwords.hash(newCredential, from), now };
    },
    async commit(client, proven, { passwordHash, now }) {
      const accountId = proven.id;
      await storePassword(client, proven, { accountId, passwordHash, mustChangePassword: false, now });
      await deleteUnusedSetupLinks(client, proven, accountId);
      await revokeSessionsOf(client, proven, {
        accountId,
        reason: 'password-changed',
        now,
        ...(keep === undefined ? {} : { except: keep }),
      });
      await also?.(client);
      await recordOwnChange(
        client,
        { organisationId: proven.organisationId, accountId, correlationId },
        { action: 'account.change-password' },
      );
      await notifyLive(client, { organisationId: proven.organisationId });
      return proven;
    },
  });
  const { organisationId } = account;
  deps.audit('sign-in.password-changed', { correlationId, accountId: account.id, organisationId });
}

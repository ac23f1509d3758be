/**
 * Changing a password that is known: clears the flag and ends the old sessions.
 * Contract: SIGN-IN-19, SIGN-IN-42, SIGN-IN-43, ADM-70.
 */
import { notifyLive } from '../../tenancy/live.ts';
import { storePassword } from '../accounts/account.store.ts';
import { recordOwnChange } from '../administration/record-own-change.ts';
import { renewToken } from '../console/console-session.store.ts';
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

/**
 * 403, 429 and 503 as at login; behind the right password, 400 for a new one against the rules. A session in which the
 * password is changed goes on, with another token.
 */
export async function changePassword(
  deps: ProofDependencies,
  { newCredential, ...proof }: IdentityProof & { newCredential: string },
  context: CallContext,
  session?: { sessionId: string; tokenHash: Buffer },
): Promise<void> {
  const { correlationId } = context;
  const account = await withProvenIdentity(deps, proof, context, {
    sessionId: session?.sessionId,
    // Behind the proof, so that nobody else can make the service look at passwords.
    async prepare({ email }, { from, now }) {
      if (canonicalPassword(newCredential) === canonicalPassword(proof.credential))
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
        except: session?.sessionId,
      });
      if (session !== undefined) await renewToken(client, proven, { ...session, proven: false });
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

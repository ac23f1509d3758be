/** Adding an authenticator app, in two calls, and removing it. Contract: SIGN-IN-61, SIGN-IN-67, ADM-70. */
import type { KeyRing } from '../../platform/crypto/key-ring.ts';
import { transaction } from '../../platform/db/database.ts';
import { readDatabaseTime } from '../../platform/db/database-time.ts';
import { tenancyError } from '../../tenancy/errors.ts';
import { lockCredentials } from '../accounts/account.store.ts';
import { recordOwnChange } from '../administration/record-own-change.ts';
import type { SessionEndSettings } from '../console/session-ends.ts';
import {
  type CallContext,
  type ProofDependencies,
  withProvenIdentity,
} from '../credentials/prove-identity.ts';
import { signInError } from '../errors.ts';
import { secondsAfter } from '../settings.ts';
import { type AddedFactor, addFactor, type ConsoleCaller, passwordProof } from './add-factor.ts';
import { clearUpAfterLast } from './remove-factor.ts';
import { deleteTotp, insertTotp, readPendingTotp, storePendingTotp, takePendingTotp } from './totp.store.ts';
import { newTotpSecret, openTotpSecret, stepOfCode, totpSealedFor } from './totp.ts';

export interface FactorDependencies extends ProofDependencies {
  keys: KeyRing;
  settings: SessionEndSettings;
}

/** How long a secret that was shown can be confirmed. */
const PENDING_SECONDS = 10 * 60;
const APP = { secondFactor: 'authenticator app' } as const;

/** A secret for the app. It counts from the moment a code of it is confirmed. 409 when there is an app already. */
export async function beginTotp(
  deps: FactorDependencies,
  { caller, password }: ConsoleCaller & { password: string },
  context: CallContext,
): Promise<{ secret: string; uri: string }> {
  return withProvenIdentity(deps, passwordProof(caller, password), context, {
    prepare: async (_, { now }) => now,
    async commit(client, proven, now) {
      if (proven.totp) throw signInError('totp_exists');
      const { bytes, secret, uri } = newTotpSecret(proven.email);
      const sealed = await deps.keys.seal(client, totpSealedFor(caller), bytes);
      const until = secondsAfter(now, PENDING_SECONDS);
      await storePendingTotp(client, caller, { sessionId: caller.sessionId, sealed, until });
      return { secret, uri };
    },
  });
}

/** 403 for a wrong code, 409 when there is nothing to confirm. The code is used up. */
export async function confirmTotp(
  deps: FactorDependencies,
  { caller, identity, code }: ConsoleCaller & { code: string },
  { databaseTime, correlationId }: CallContext,
): Promise<AddedFactor> {
  const { accountId, organisationId, sessionId } = caller;
  const now = await readDatabaseTime(deps.db, databaseTime);
  const sealed = await readPendingTotp(deps.db, caller, { sessionId, now });
  if (sealed === undefined) throw signInError('nothing_to_confirm');
  const step = stepOfCode(await openTotpSecret(deps.keys, caller, sealed), code, now);
  // The secret is known to whoever asks: a wrong code is a slip, and no guess.
  if (step === undefined) throw signInError('second_factor_refused');
  const added = await transaction(deps.db, async (client) => {
    await lockCredentials(client, caller, accountId);
    return addFactor(deps, client, { caller, identity, now, correlationId, factor: APP }, async () => {
      if (!(await takePendingTotp(client, caller, { sessionId, sealed })))
        throw signInError('nothing_to_confirm');
      if (!(await insertTotp(client, caller, { accountId, sealed, step, now })))
        throw signInError('totp_exists');
    });
  });
  deps.audit('sign-in.second-factor-added', { correlationId, accountId, organisationId, sessionId });
  return added;
}

export async function removeTotp(
  deps: FactorDependencies,
  { caller, password }: ConsoleCaller & { password: string },
  context: CallContext,
): Promise<void> {
  const { accountId, organisationId, sessionId } = caller;
  const { correlationId } = context;
  await withProvenIdentity(deps, passwordProof(caller, password), context, {
    prepare: async (_, { now }) => now,
    async commit(client, _, now) {
      if (!(await deleteTotp(client, caller, accountId)))
        throw tenancyError('not_found', { record: 'The authenticator app' });
      await clearUpAfterLast(client, caller, { accountId, now });
      const own = { organisationId, accountId, correlationId };
      await recordOwnChange(client, own, { action: 'account.remove-own-factor', before: APP });
    },
  });
  deps.audit('sign-in.second-factor-removed', { correlationId, accountId, organisationId, sessionId });
}

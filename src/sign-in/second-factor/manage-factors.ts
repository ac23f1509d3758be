/**
 * Adding an authenticator app, in two calls, and removing it; new recovery codes in place of those before.
 * Contract: SIGN-IN-61, SIGN-IN-63, SIGN-IN-67, ADM-70.
 */
import { readDatabaseTime } from '../../platform/db/database-time.ts';
import { notFound } from '../../tenancy/errors.ts';
import { recordOwnChange } from '../administration/record-own-change.ts';
import { idsOf, type OwnCall, withOwnPassword } from '../credentials/prove-identity.ts';
import { signInError } from '../errors.ts';
import { secondsAfter } from '../settings.ts';
import { type AddedFactor, addFactor, type FactorDependencies } from './add-factor.ts';
import { makeRecoveryCodes } from './recovery-codes.ts';
import { removeOwnFactor } from './remove-factor.ts';
import { hasSecondFactor } from './second-factor.ts';
import { deleteTotp, insertTotp, readPendingTotp, storePendingTotp, takePendingTotp } from './totp.store.ts';
import { newTotpSecret, openTotpSecret, stepOfCode, totpSealedFor } from './totp.ts';

/** How long a secret that was shown can be confirmed. */
const PENDING_SECONDS = 10 * 60;
const APP = { secondFactor: 'authenticator app' } as const;

/** A secret for the app. It counts from the moment a code of it is confirmed. 409 when there is an app already. */
export async function beginTotp(
  deps: FactorDependencies,
  password: string,
  call: OwnCall,
): Promise<{ secret: string; uri: string }> {
  const { caller } = call;
  return withOwnPassword(deps, password, call, async (client, proven, now) => {
    if (proven.totp) throw signInError('totp_exists');
    const { bytes, secret, uri } = newTotpSecret(proven.email);
    const sealed = await deps.keys.seal(client, totpSealedFor(caller), bytes);
    const until = secondsAfter(now, PENDING_SECONDS);
    await storePendingTotp(client, caller, { sessionId: caller.sessionId, sealed, until });
    return { secret, uri };
  });
}

/** 403 for a wrong code, 409 when there is nothing to confirm. The code is used up. */
export async function confirmTotp(
  deps: FactorDependencies,
  code: string,
  call: OwnCall,
): Promise<AddedFactor> {
  const { caller } = call;
  const { accountId, sessionId } = caller;
  const now = await readDatabaseTime(deps.db, call.databaseTime);
  const sealed = await readPendingTotp(deps.db, caller, { sessionId, now });
  if (sealed === undefined) throw signInError('nothing_to_confirm');
  const plain = await openTotpSecret(deps.keys, caller, sealed);
  const step = stepOfCode(plain, code, now);
  // The secret is known to whoever asks: a wrong code is a slip, and no guess.
  if (step === undefined) throw signInError('second_factor_refused');
  return addFactor(deps, call, { now, factor: APP }, async (client) => {
    // A rotation of the master key leaves what is not confirmed as it was (totp.ts).
    const kept = await deps.keys.seal(client, totpSealedFor(caller), plain);
    if (!(await takePendingTotp(client, caller, { sessionId, sealed })))
      throw signInError('nothing_to_confirm');
    if (!(await insertTotp(client, caller, { accountId, sealed: kept, step, now })))
      throw signInError('totp_exists');
  });
}

export async function removeTotp(deps: FactorDependencies, password: string, call: OwnCall): Promise<void> {
  const { caller } = call;
  await removeOwnFactor(deps, password, call, async (client) => {
    if (!(await deleteTotp(client, caller, caller.accountId))) throw notFound('The authenticator app');
    return APP;
  });
}

/** Ten codes. 409 for an account without a second factor, which they would stand in for. */
export async function renewRecoveryCodes(
  deps: FactorDependencies,
  password: string,
  call: OwnCall,
): Promise<string[]> {
  const codes = await withOwnPassword(deps, password, call, async (client, proven) => {
    if (!hasSecondFactor(proven)) throw signInError('second_factor_missing');
    await recordOwnChange(client, idsOf(call), { action: 'account.renew-recovery-codes' });
    return makeRecoveryCodes(client, deps.keys, call.caller);
  });
  deps.audit('sign-in.recovery-codes-made', idsOf(call));
  return codes;
}

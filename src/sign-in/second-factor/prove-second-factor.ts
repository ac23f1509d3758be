/**
 * The second step of a sign-in at the console. What is wrong counts as a failed sign-in, in the same counter as passwords.
 * Contract: SIGN-IN-57, SIGN-IN-61, SIGN-IN-63, SIGN-IN-66.
 */
import type { KeyRing } from '../../platform/crypto/key-ring.ts';
import { type Client, transaction } from '../../platform/db/database.ts';
import type { Caller } from '../../tenancy/callers/caller.ts';
import { lockCredentials } from '../accounts/account.store.ts';
import type { SignInEvent } from '../audit.ts';
import { finishSession, type SessionEndSettings } from '../console/session-ends.ts';
import { idsOf, type OwnCall, type ProofDependencies } from '../credentials/prove-identity.ts';
import { signInError } from '../errors.ts';
import type { SignInAttempt } from '../lockout/lockout.ts';
import { useRecoveryCode } from './recovery-codes.ts';
import { readTotp, takeTotpStep } from './totp.store.ts';
import { openTotpSecret, stepOfCode } from './totp.ts';

export interface ProveDependencies extends Omit<ProofDependencies, 'passwords'> {
  keys: KeyRing;
  settings: SessionEndSettings;
}

/** Takes what proves the factor, so that it counts once; false when it is wrong. */
export type TakeProof = (client: Client, now: Date) => Promise<boolean>;

/** The token of the session from now on. 403 for a wrong code, 429 after too many. */
export async function proveTotp(deps: ProveDependencies, code: string, call: OwnCall): Promise<string> {
  const { caller } = call;
  const { accountId } = caller;
  return finishSignIn(deps, call, async (attempt) => {
    const totp = await readTotp(deps.db, caller, accountId);
    const step = totp && stepOfCode(await openTotpSecret(deps.keys, caller, totp.sealed), code, attempt.now);
    if (totp === undefined || step === undefined) return undefined;
    const { createdAt } = totp;
    return (client) => takeTotpStep(client, caller, { accountId, createdAt, step });
  });
}

/** Like {@link proveTotp}; the code no longer works. */
export async function proveRecoveryCode(
  deps: ProveDependencies,
  code: string,
  call: OwnCall,
): Promise<string> {
  return finishSignIn(
    deps,
    call,
    async () => (client) => useRecoveryCode(client, deps.keys, { account: call.caller, code }),
    'sign-in.recovery-code-used',
  );
}

/**
 * Judges a proof as one attempt at the lock of the account. `judge` works before the transaction, and answers what takes
 * the proof inside of it, or undefined.
 */
export async function finishSignIn(
  deps: Omit<ProveDependencies, 'keys'>,
  call: OwnCall,
  judge: (attempt: SignInAttempt) => Promise<TakeProof | undefined>,
  event: SignInEvent = 'sign-in.succeeded',
): Promise<string> {
  const { caller } = call;
  const attempt = await deps.lockout.begin(caller.accountId, call);
  let token: string | undefined;
  try {
    const take = await judge(attempt);
    token =
      take && (await transaction(deps.db, (client) => raiseProven(deps, client, { caller, attempt, take })));
  } catch (error) {
    await deps.lockout.release(attempt).catch(() => undefined);
    throw error;
  }
  if (token !== undefined) {
    deps.audit(event, idsOf(call));
    return token;
  }
  const { locked } = await deps.lockout.fail(attempt);
  deps.audit('sign-in.second-factor-failed', idsOf(call));
  if (locked) deps.audit('sign-in.locked', idsOf(call));
  throw signInError('second_factor_refused');
}

/**
 * Takes the proof and gives the session its next token; undefined where the proof is not good. Throws where the account was
 * disabled or the session has ended meanwhile: then the code is not used up, and was no failure.
 */
async function raiseProven(
  { lockout, settings }: Pick<ProveDependencies, 'lockout' | 'settings'>,
  client: Client,
  { caller, attempt, take }: { caller: Caller; attempt: SignInAttempt; take: TakeProof },
): Promise<string | undefined> {
  const { now } = attempt;
  const held = await lockCredentials(client, caller, caller.accountId);
  if (held?.disabled !== false) throw signInError('not_signed_in');
  if (!(await take(client, now))) return undefined;
  const token = await finishSession(client, caller, { now, settings });
  await lockout.succeed(client, attempt);
  return token;
}

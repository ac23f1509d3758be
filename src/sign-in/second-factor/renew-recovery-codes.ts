/** Ten new recovery codes in place of those before. Contract: SIGN-IN-63, SIGN-IN-67, ADM-70. */
import { recordOwnChange } from '../administration/record-own-change.ts';
import { type CallContext, withProvenIdentity } from '../credentials/prove-identity.ts';
import { signInError } from '../errors.ts';
import { type ConsoleCaller, passwordProof } from './add-factor.ts';
import type { FactorDependencies } from './manage-totp.ts';
import { makeRecoveryCodes } from './recovery-codes.ts';
import { hasSecondFactor } from './second-factor.ts';

/** 409 for an account without a second factor, which they would stand in for. */
export async function renewRecoveryCodes(
  deps: FactorDependencies,
  { caller, password }: ConsoleCaller & { password: string },
  context: CallContext,
): Promise<string[]> {
  const { accountId, organisationId, sessionId } = caller;
  const { correlationId } = context;
  const codes = await withProvenIdentity(deps, passwordProof(caller, password), context, {
    prepare: async () => undefined,
    async commit(client, proven) {
      if (!hasSecondFactor(proven)) throw signInError('second_factor_missing');
      const own = { organisationId, accountId, correlationId };
      await recordOwnChange(client, own, { action: 'account.renew-recovery-codes' });
      return makeRecoveryCodes(client, deps.keys, caller);
    },
  });
  deps.audit('sign-in.recovery-codes-made', { correlationId, accountId, organisationId, sessionId });
  return codes;
}

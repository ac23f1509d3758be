/** What is left to do of a sign-in at the console. Contract: SIGN-IN-57, SIGN-IN-64. */
import type { ConsoleStage } from '../../tenancy/callers/caller.ts';
import type { SecondFactor } from './second-factor.store.ts';

export const SECOND_FACTOR_METHODS = ['totp', 'passkey', 'recovery-code'] as const;
export type SecondFactorMethod = (typeof SECOND_FACTOR_METHODS)[number];

export function hasSecondFactor({ totp, passkeys }: SecondFactor): boolean {
  return totp || passkeys > 0;
}

/** From the facts as they are now, so that a factor that is added, or a role that asks for one, counts at once. */
export function consoleStageOf(factor: SecondFactor, { proven }: { proven: boolean }): ConsoleStage {
  if (hasSecondFactor(factor)) return proven ? 'signed-in' : 'second-factor';
  return factor.required ? 'enrol-second-factor' : 'signed-in';
}

export function methodsOf(factor: SecondFactor): SecondFactorMethod[] {
  return SECOND_FACTOR_METHODS.filter((method) => {
    if (method === 'totp') return factor.totp;
    return method === 'passkey' ? factor.passkeys > 0 : factor.recoveryCodesLeft > 0;
  });
}

/**
 * What a password that a person chose must be. Generated ones are past these rules.
 * Contract: SEC-6, SEC-7.
 */
import { signInError } from '../errors.ts';
import { passwordFault } from './password-fault.ts';

/** Throws with the rule that the password breaks. */
export async function assertGoodPassword(password: string, email: string): Promise<void> {
  const fault = await passwordFault(password, email);
  if (fault !== undefined) throw signInError('password_refused', { fault });
}

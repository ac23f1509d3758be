/** Verify: from an email address to a user id, confirming nothing. Contract: SIGN-IN-5, SIGN-IN-6. */
import type { Queryable } from '../../platform/db/database.ts';
import { findByEmail, readCredentialsOf, type UserType } from '../accounts/account.store.ts';
import { normaliseEmail } from '../accounts/email.ts';
import { decoyUserId } from '../credentials/decoy-user-id.ts';

/**
 * The user id of an address depends on the address alone, decoy or not, and the user type is that which was
 * asked for. Flags are told only for an account of that type that is not disabled.
 */
export async function verify(
  deps: { db: Queryable; decoyKey: Uint8Array },
  { email, userType }: { email: string; userType: UserType },
) {
  const address = normaliseEmail(email);
  const decoy = decoyUserId(deps.decoyKey, address);
  const entry = await findByEmail(deps.db, address);
  const account = await readCredentialsOf(deps.db, entry);
  const told = account?.userType === userType && !account.disabled ? account : undefined;
  return {
    userId: entry?.userId ?? decoy,
    mustChangePassword: told?.mustChangePassword ?? false,
    requiresPasswordSetup: told?.requiresPasswordSetup ?? false,
    userType,
  };
}

/** Where the password of an account comes from when an operator makes or resets it. */
import type { Queryable } from '../../platform/db/database.ts';
import { generatePassword, type Passwords } from '../credentials/password.ts';
import { assertGoodPassword } from '../credentials/password-rules.ts';
import { makeSetupLink } from '../credentials/setup-link.ts';
import { DEFAULT_SIGN_IN_SETTINGS } from '../settings.ts';

export type PasswordSource =
  | { kind: 'generated' }
  | { kind: 'given'; password: string }
  | { kind: 'setup-link' };

export interface InitialPassword {
  /** Null: none until the setup link sets it. */
  hash: string | null;
  /** Shown once: what was generated. */
  password?: string;
}

/** Throws for a given password against the rules. */
export async function choosePassword(
  passwords: Passwords,
  source: PasswordSource,
  email: string,
): Promise<InitialPassword> {
  if (source.kind === 'setup-link') return { hash: null };
  if (source.kind === 'given') {
    await assertGoodPassword(source.password, email);
    return { hash: await passwords.hash(source.password) };
  }
  const password = generatePassword();
  return { hash: await passwords.hash(password), password };
}

/** What is shown once: the generated password, or a new setup link where there is none. */
export async function revealOnce(
  db: Queryable,
  initial: InitialPassword,
  link: { organisationId: string; accountId: string; publicBaseUrl: string; now: Date },
): Promise<{ password?: string; setupLink?: string }> {
  if (initial.password !== undefined) return { password: initial.password };
  if (initial.hash !== null) return {};
  const ttlSeconds = DEFAULT_SIGN_IN_SETTINGS.setupLinkSeconds;
  return { setupLink: await makeSetupLink(db, { ...link, ttlSeconds }) };
}

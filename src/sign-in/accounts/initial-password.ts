/**
 * Where the password of an account comes from when an administrator or the operator makes or resets it.
 * Contract: SIGN-IN-44, SIGN-IN-45.
 */
import type { Queryable } from '../../platform/db/database.ts';
import { assertGoodPassword, generatePassword, type Passwords } from '../credentials/password.ts';
import { deleteUnusedSetupLinks, insertSetupLink } from '../credentials/setup-link.store.ts';
import { newOrganisationToken } from '../organisation-token.ts';
import { secondsAfter } from '../settings.ts';

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

interface LinkedAccount {
  organisationId: string;
  accountId: string;
  publicBaseUrl: string;
  now: Date;
}

/** What is shown once: the generated password, or a new setup link where there is none. */
export async function revealOnce(
  db: Queryable,
  initial: InitialPassword,
  link: LinkedAccount,
): Promise<{ password?: string; setupLink?: string }> {
  if (initial.password !== undefined) return { password: initial.password };
  return initial.hash === null ? { setupLink: await makeSetupLink(db, link) } : {};
}

/** Beside the API: two segments up from `…/api/v1`, behind a path prefix of a proxy too. */
const SETUP_PAGE = '../../console/set-password';
const SETUP_LINK_SECONDS = 72 * 3_600;

/**
 * A new link for an account; earlier ones stop working. The token stands in the fragment, which browsers do
 * not send to servers, so that it is in no log.
 */
async function makeSetupLink(
  db: Queryable,
  { organisationId, accountId, publicBaseUrl, now }: LinkedAccount,
): Promise<string> {
  const { text, hash: tokenHash } = newOrganisationToken(organisationId);
  await deleteUnusedSetupLinks(db, { organisationId }, accountId);
  const expiresAt = secondsAfter(now, SETUP_LINK_SECONDS);
  await insertSetupLink(db, { organisationId }, { tokenHash, accountId, createdAt: now, expiresAt });
  return `${new URL(SETUP_PAGE, `${publicBaseUrl}/`).href}#token=${text}`;
}

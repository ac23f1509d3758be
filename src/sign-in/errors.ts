/** What use cases refuse of accounts, passwords and sessions, and how it is worded. */
import { domainErrors } from '../platform/domain-error.ts';
import {
  PASSWORD_MAX_LENGTH,
  PASSWORD_MIN_LENGTH,
  type PasswordFault,
} from './credentials/password-fault.ts';
import { french } from './errors.fr.ts';

/** The rules for a password that a person chose. */
const PASSWORD_RULES: Readonly<Record<PasswordFault, string>> = {
  short: `The password must have at least ${PASSWORD_MIN_LENGTH} characters.`,
  long: `The password must have at most ${PASSWORD_MAX_LENGTH} characters.`,
  email: 'The password must not be the email address.',
  common: 'The password is one of the most common ones. Choose another, for example several words.',
  same: 'The new password must differ from the old one.',
};

export const signInError = domainErrors(
  {
    password_refused: {
      status: 400,
      exitCode: 2,
      text: ({ fault }: { fault: PasswordFault }) => PASSWORD_RULES[fault],
      example: { fault: 'email' },
    },
    token_refused: {
      status: 401,
      // RFC 6750 section 3: without `error` where a request brought no access token.
      headers: { 'www-authenticate': 'Bearer error="invalid_token"' },
      text: 'The access token is not valid: it is expired or revoked, or this service did not issue it. Refresh it and try once more. If that fails, sign in again.',
    },
    not_signed_in: {
      status: 401,
      headers: { 'www-authenticate': 'Cookie' },
      text: 'You are not signed in, or the session has ended. Sign in at the console.',
    },
    refresh_refused: {
      status: 401,
      headers: { 'www-authenticate': 'Bearer' },
      text: 'The refresh token is unknown, expired, used or revoked. Sign in again.',
    },
    invalid_credentials: {
      status: 403,
      text: 'The identity (the userId from /auth/verify), the credential or the user type is wrong, or the account cannot sign in. Check all three.',
    },
    password_wrong: {
      status: 403,
      text: 'The password is wrong. Type the one that you sign in with now.',
    },
    second_factor_refused: {
      status: 403,
      text: 'The second factor is wrong, or was used already. Take the next code, or try another way.',
    },
    totp_exists: {
      status: 409,
      text: 'This account has an authenticator app already. Remove it first.',
    },
    nothing_to_confirm: {
      status: 409,
      text: 'There is nothing to confirm, or it was begun too long ago. Begin again.',
    },
    passkeys_unavailable: {
      status: 409,
      text: 'This service is reached at an IP address, and a passkey belongs to a name. Use an authenticator app, or ask the operator for a name.',
    },
    passkey_refused: {
      status: 409,
      text: 'This passkey is known already, or the account has 20 of them. Use another one, or remove one first.',
    },
    second_factor_missing: {
      status: 409,
      text: 'This account has no second factor yet. Add one first.',
    },
    setup_link_refused: {
      status: 403,
      text: 'This setup link was used or replaced, is too old, or its account was changed. Ask whoever gave it to you for a new one.',
    },
    sign_in_locked: {
      status: 429,
      text: (_: { retryAfterSeconds: number }) =>
        'Too many failed sign-ins. Wait for the seconds in the header retry-after, then sign in again.',
    },
    clock: {
      status: 503,
      retryAfterSeconds: 30,
      text: 'The clock of this process differs too much from the clock of the database, so it issues no tokens. Try again in 30 seconds, and tell the operator.',
    },
    sign_in_overloaded: {
      status: 503,
      retryAfterSeconds: 2,
      text: 'Too many sign-ins are running. Try again shortly.',
    },
    bad_email: {
      status: 400,
      exitCode: 2,
      text: ({ field }: { field: string }) =>
        `${field} is not an email address. Send one such as ris@example.org.`,
      command: ({ field }: { field: string }) =>
        `${field} is not an email address. Example: ${field} ris@example.org`,
      example: { field: 'email' },
    },
    no_facility: {
      exitCode: 2,
      text: ({ field }: { field: string }) =>
        `${field} is empty. Give one id, or several separated by commas.`,
    },
    account_exists: {
      status: 409,
      text: 'An account with this email exists already. Use another address.',
      command: ({ email }: { email: string }) =>
        `An account with the email ${email} exists already. Use another address, or see: npx interchange account list --organisation ID`,
    },
    account_type_refused: {
      status: 403,
      text: ({ userType }: { userType: string }) =>
        `Your role does not manage accounts of the type ${userType}. Ask an administrator whose role does.`,
      example: { userType: 'STAFF' },
    },
    unknown_account: {
      text: ({ email }: { email: string }) =>
        `There is no account with the email ${email}. List them with: npx interchange account list --organisation ID`,
    },
  },
  french,
);

/** The options by which commands take or make a password; never an argument. */
import type { Readable } from 'node:stream';
import type { Command } from 'commander';
import type { CommandSession } from '../../platform/command/command.ts';
import { UsageError } from '../../platform/command/command.ts';
import { createPasswords } from '../credentials/password.ts';
import { DEFAULT_SIGN_IN_SETTINGS } from '../settings.ts';
import type { CreatedAccount } from './create-account.ts';
import type { PasswordSource } from './initial-password.ts';
import type { ResetPasswordDeps } from './manage-accounts.ts';

export interface PasswordFlags {
  passwordStdin?: boolean;
  setupLink?: boolean;
  mustChangePassword?: boolean;
}

const MAX_BYTES = 8_192;

export function withPasswordOptions(command: Command): Command {
  return command
    .option(
      '--password-stdin',
      'read the password from standard input (default: generate one and show it once)',
    )
    .option(
      '--setup-link',
      'set no password; print a link with which the person sets it, once, within 72 hours',
    )
    .option('--must-change-password', 'the account must change its password before it can be used');
}

export async function passwordSource(options: PasswordFlags, stdin: Readable): Promise<PasswordSource> {
  if (options.passwordStdin === true && options.setupLink === true)
    throw new UsageError('Give --password-stdin or --setup-link, not both.');
  if (options.setupLink === true) return { kind: 'setup-link' };
  return options.passwordStdin === true
    ? { kind: 'given', password: await readPassword(stdin) }
    : { kind: 'generated' };
}

export function manageAccountDeps({ db, publicBaseUrl, keys }: CommandSession): ResetPasswordDeps {
  return { db, publicBaseUrl, keys, passwords: createPasswords(DEFAULT_SIGN_IN_SETTINGS) };
}

export function accountText({ userId, email, password, setupLink }: CreatedAccount): string {
  const lines = [`User id   ${userId}`, `Email     ${email}`];
  if (password !== undefined) lines.push(`Password  ${password}   (shown only once)`);
  if (setupLink !== undefined) lines.push(`Set-up    ${setupLink}   (shown only once, valid for 72 hours)`);
  return lines.join('\n');
}

/** One line; the line break at its end is not part of it. */
async function readPassword(stdin: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of stdin) {
    chunks.push(Buffer.from(chunk));
    sizeBytes += chunks.at(-1)?.length ?? 0;
    if (sizeBytes > MAX_BYTES)
      throw new UsageError('The password on standard input is too long. Give one line.');
  }
  const password = Buffer.concat(chunks)
    .toString('utf8')
    .replace(/\r?\n$/, '');
  if (password === '' || /[\r\n\0]/.test(password))
    throw new UsageError(
      'Give the password as one line on standard input, for example: printf %s "$PASSWORD" | npx interchange …',
    );
  return password;
}

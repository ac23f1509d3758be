/** `interchange account create | disable | enable | reset-password | list`. Contract: CMD-8, CMD-9. */
import { Command } from 'commander';
import { type CommandEnvironment, type CommandSession, UsageError } from '../../platform/command/command.ts';
import { readSecret } from '../../platform/command/read-secret.ts';
import { splitList } from '../../platform/command/split-list.ts';
import { readDatabaseTime } from '../../platform/db/database-time.ts';
import { OPERATOR } from '../../tenancy/administration/author.ts';
import { requireOrganisation } from '../../tenancy/organisations/facilities.ts';
import {
  endSessionsCommand,
  listSessionsCommand,
  setEmailCommand,
  setFacilitiesCommand,
  setRoleCommand,
} from '../administration/change-account.command.ts';
import { operatorOn } from '../administration/managed-account.ts';
import { consoleAddress } from '../console/console-address.ts';
import { createPasswords } from '../credentials/password.ts';
import { removeSecondFactorCommand } from '../second-factor/remove-second-factor.command.ts';
import { DEFAULT_SIGN_IN_SETTINGS } from '../settings.ts';
import { USER_TYPES, type UserType } from './account.store.ts';
import { accountCommand, type OfAccount } from './account-command.ts';
import { type CreatedAccount, createAccount } from './create-account.ts';
import type { PasswordSource } from './initial-password.ts';
import { type AccountSummary, listAccounts } from './manage-accounts.store.ts';
import {
  disableAccount,
  enableAccount,
  type ResetPasswordDependencies,
  resetPassword,
} from './manage-accounts.ts';
import { unlockAccountCommand } from './unlock-account.command.ts';

interface PasswordFlags {
  passwordStdin?: boolean;
  setupLink?: boolean;
  mustChangePassword?: boolean;
}

interface CreateOptions extends PasswordFlags {
  organisation: string;
  facility: string[];
  email: string;
  role: string;
  type: string;
}

/** The commands of `interchange account`, in the order of its help. */
export const ACCOUNT_COMMANDS = [
  createAccountCommand,
  disableAccountCommand,
  enableAccountCommand,
  resetPasswordCommand,
  unlockAccountCommand,
  removeSecondFactorCommand,
  setEmailCommand,
  setRoleCommand,
  setFacilitiesCommand,
  listSessionsCommand,
  endSessionsCommand,
  listAccountsCommand,
];

export function createAccountCommand(environment: CommandEnvironment): Command {
  const command = new Command('create')
    .description('create an account; prints its user id and its password, which is never shown again')
    .requiredOption('--organisation <id>', 'organisation of the account')
    .requiredOption(
      '--facility <ids>',
      'facilities that the account may use, separated by commas; the first is its default',
      splitList,
    )
    .requiredOption('--email <email>', 'address it is found by')
    .requiredOption('--role <name>', 'role that says what the account may do')
    .option('--type <type>', 'EHR for a system, STAFF for a person', 'EHR');
  return withPasswordOptions(command)
    .addHelpText(
      'after',
      '\nExample:\n  npx interchange account create --organisation 7f0c… --facility 91d2… --email ris@example.org --role reader',
    )
    .action(async (options: CreateOptions) => {
      const userType = checkedType(options.type);
      const password = await passwordSource(options, environment.stdin);
      const created = await environment.withSession(async (session) => ({
        ...(await createAccount(
          manageAccountDependencies(session),
          {
            organisationId: options.organisation,
            facilityIds: options.facility,
            email: options.email,
            role: { name: options.role },
            userType,
            password,
            mustChangePassword: options.mustChangePassword === true,
          },
          { now: await readDatabaseTime(session.db), author: OPERATOR },
        )),
        ...(userType === 'STAFF' ? { console: consoleAddress(session.publicBaseUrl) } : {}),
      }));
      environment.print(created, accountText(created));
    });
}

export function disableAccountCommand(environment: CommandEnvironment): Command {
  const description = 'end the sessions of an account and refuse its sign-ins, at once and in every process';
  return accountCommand('disable', description).action(async ({ email }: OfAccount) => {
    const state = await environment.withSession(({ db }) => disableAccount(db, operatorOn(email), null));
    environment.print(state, `${state.email} is disabled.`);
  });
}

export function enableAccountCommand(environment: CommandEnvironment): Command {
  return accountCommand('enable', 'let a disabled account sign in again').action(
    async ({ email }: OfAccount) => {
      const state = await environment.withSession(({ db }) => enableAccount(db, operatorOn(email)));
      environment.print(state, `${state.email} is enabled.`);
    },
  );
}

export function resetPasswordCommand(environment: CommandEnvironment): Command {
  const command = accountCommand(
    'reset-password',
    'give an account a new password; this ends its sessions, setup links and locks',
  );
  return withPasswordOptions(command).action(async (options: PasswordFlags & OfAccount) => {
    const password = await passwordSource(options, environment.stdin);
    const mustChangePassword = options.mustChangePassword === true;
    const reset = { ...operatorOn(options.email), password, mustChangePassword };
    const account = await environment.withSession((session) =>
      resetPassword(manageAccountDependencies(session), reset, null),
    );
    environment.print(account, accountText(account));
  });
}

export function listAccountsCommand(environment: CommandEnvironment): Command {
  return new Command('list')
    .description('list the accounts of an organisation')
    .requiredOption('--organisation <id>', 'organisation')
    .addHelpText('after', '\nExample:\n  npx interchange account list --organisation 7f0c… --json')
    .action(async ({ organisation }: { organisation: string }) => {
      const items = await environment.withSession(async ({ db }) =>
        listAccounts(db, await requireOrganisation(db, organisation)),
      );
      const text =
        items.length === 0
          ? 'This organisation has no account yet. Create one with: npx interchange account create'
          : items.map(accountLine).join('\n');
      environment.print({ items }, text);
    });
}

function accountLine(account: AccountSummary): string {
  const state = account.disabled
    ? 'disabled'
    : account.requiresPasswordSetup
      ? 'without a password'
      : account.mustChangePassword
        ? 'must change password'
        : 'active';
  return `${account.userId}  ${account.email}  ${account.userType}  ${account.role}  ${state}`;
}

function checkedType(text: string): UserType {
  const type = USER_TYPES.find((known) => known === text.toUpperCase());
  if (type === undefined) throw new UsageError(`--type must be one of ${USER_TYPES.join(', ')}.`);
  return type;
}

function withPasswordOptions(command: Command): Command {
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

async function passwordSource(
  options: PasswordFlags,
  stdin: CommandEnvironment['stdin'],
): Promise<PasswordSource> {
  if (options.passwordStdin === true && options.setupLink === true)
    throw new UsageError('Give --password-stdin or --setup-link, not both.');
  if (options.setupLink === true) return { kind: 'setup-link' };
  return options.passwordStdin === true
    ? { kind: 'given', password: await readSecret(stdin, 'password') }
    : { kind: 'generated' };
}

function manageAccountDependencies({ db, publicBaseUrl, keys }: CommandSession): ResetPasswordDependencies {
  return { db, publicBaseUrl, keys, passwords: createPasswords(DEFAULT_SIGN_IN_SETTINGS) };
}

function accountText(account: CreatedAccount & { console?: string }): string {
  const { userId, email, password, setupLink } = account;
  const lines = [`User id   ${userId}`, `Email     ${email}`];
  if (password !== undefined) lines.push(`Password  ${password}   (shown only once)`);
  if (setupLink !== undefined) lines.push(`Set-up    ${setupLink}   (shown only once, valid for 72 hours)`);
  if (account.console !== undefined) lines.push(`Console   ${account.console}`);
  return lines.join('\n');
}

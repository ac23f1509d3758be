/** `interchange account disable | enable | reset-password | list`. Contract: CMD-9. */
import { Command } from 'commander';
import type { CommandEnvironment } from '../../platform/command/command.ts';
import { readDatabaseTime } from '../../platform/db/database-time.ts';
import { requireOrganisation } from '../../tenancy/organisations/facilities.ts';
import { type ListedAccount, listAccounts } from './manage-accounts.store.ts';
import { disableAccount, enableAccount, resetPassword } from './manage-accounts.ts';
import {
  accountText,
  manageAccountDeps,
  type PasswordFlags,
  passwordSource,
  withPasswordOptions,
} from './password-options.ts';

export function disableAccountCommand(environment: CommandEnvironment): Command {
  return new Command('disable')
    .description('end the sessions of an account and refuse its sign-ins, at once and in every process')
    .requiredOption('--email <email>', 'address of the account')
    .addHelpText('after', '\nExample:\n  npx interchange account disable --email ris@example.org')
    .action(async ({ email }: { email: string }) => {
      const state = await environment.withSession(async ({ db }) =>
        disableAccount(db, email, await readDatabaseTime(db)),
      );
      environment.print(state, `${state.email} is disabled.`);
    });
}

export function enableAccountCommand(environment: CommandEnvironment): Command {
  return new Command('enable')
    .description('let a disabled account sign in again')
    .requiredOption('--email <email>', 'address of the account')
    .addHelpText('after', '\nExample:\n  npx interchange account enable --email ris@example.org')
    .action(async ({ email }: { email: string }) => {
      const state = await environment.withSession(({ db }) => enableAccount(db, email));
      environment.print(state, `${state.email} is enabled.`);
    });
}

export function resetPasswordCommand(environment: CommandEnvironment): Command {
  const command = new Command('reset-password')
    .description('give an account a new password; this ends its sessions, setup links and locks')
    .requiredOption('--email <email>', 'address of the account');
  return withPasswordOptions(command)
    .addHelpText('after', '\nExample:\n  npx interchange account reset-password --email ris@example.org')
    .action(async (options: PasswordFlags & { email: string }) => {
      const password = await passwordSource(options, environment.stdin);
      const mustChangePassword = options.mustChangePassword === true;
      const reset = { email: options.email, password, mustChangePassword };
      const account = await environment.withSession(async (session) =>
        resetPassword(manageAccountDeps(session), reset, await readDatabaseTime(session.db)),
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
      const items = await environment.withSession(async ({ db }) => {
        await requireOrganisation(db, organisation);
        return listAccounts(db, { organisationId: organisation });
      });
      const text =
        items.length === 0
          ? 'This organisation has no account yet. Create one with: npx interchange account create'
          : items.map(accountLine).join('\n');
      environment.print({ items }, text);
    });
}

function accountLine(account: ListedAccount): string {
  const state = account.disabled
    ? 'disabled'
    : account.requiresPasswordSetup
      ? 'without a password'
      : account.mustChangePassword
        ? 'must change password'
        : 'active';
  return `${account.userId}  ${account.email}  ${account.userType}  ${account.role}  ${state}`;
}

/** `interchange account create`. Contract: CMD-8. */
import { Command } from 'commander';
import { type CommandEnvironment, UsageError } from '../../platform/command/command.ts';
import { readDatabaseTime } from '../../platform/db/database-time.ts';
import { splitList } from '../../tenancy/organisations/create-facility.command.ts';
import { USER_TYPES, type UserType } from './account.store.ts';
import { createAccount } from './create-account.ts';
import {
  accountText,
  manageAccountDeps,
  type PasswordFlags,
  passwordSource,
  withPasswordOptions,
} from './password-options.ts';

interface Options extends PasswordFlags {
  organisation: string;
  facility: string[];
  email: string;
  role: string;
  type: string;
}

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
    .action(async (options: Options) => {
      const userType = checkedType(options.type);
      const password = await passwordSource(options, environment.stdin);
      const created = await environment.withSession(async (session) =>
        createAccount(
          manageAccountDeps(session),
          {
            organisationId: options.organisation,
            facilityIds: options.facility,
            email: options.email,
            role: options.role,
            userType,
            password,
            mustChangePassword: options.mustChangePassword === true,
          },
          await readDatabaseTime(session.db),
        ),
      );
      environment.print(created, accountText(created));
    });
}

function checkedType(text: string): UserType {
  const type = USER_TYPES.find((known) => known === text.toUpperCase());
  if (type === undefined) throw new UsageError(`--type must be one of ${USER_TYPES.join(', ')}.`);
  return type;
}

/** `interchange role create`. Contract: ACC-20. */
import { Command } from 'commander';
import type { CommandEnvironment } from '../../platform/command/command.ts';
import { splitList } from '../organisations/create-facility.command.ts';
import { createRole, permissionsHelp } from './roles.ts';

interface Options {
  organisation: string;
  name: string;
  permissions: string[];
}

export function createRoleCommand(environment: CommandEnvironment): Command {
  return new Command('create')
    .description('create a role of an organisation; prints its id')
    .requiredOption('--organisation <id>', 'organisation of the role')
    .requiredOption('--name <name>', 'name, 1 to 200 characters')
    .requiredOption('--permissions <list>', 'permissions of the role, separated by commas', splitList)
    .addHelpText('after', permissionsHelp())
    .addHelpText(
      'after',
      '\nExample:\n  npx interchange role create --organisation 7f0c… --name reader \\\n    --permissions patients.patients.list,patients.patients.get,encounters.access',
    )
    .action(async ({ organisation, name, permissions }: Options) => {
      const created = await environment.withSession(({ db }) =>
        createRole(db, { organisationId: organisation, name, permissions }),
      );
      environment.print(created, created.id);
    });
}

/** `interchange role set-permissions`. Contract: ACC-21. */
import { Command } from 'commander';
import type { CommandEnvironment } from '../../platform/command/command.ts';
import { splitList } from '../organisations/create-facility.command.ts';
import { permissionsHelp, setPermissions } from './roles.ts';

interface Options {
  organisation: string;
  name: string;
  permissions: string[];
}

export function setPermissionsCommand(environment: CommandEnvironment): Command {
  return new Command('set-permissions')
    .description('replace the permissions of a role, from the next call on, in every process')
    .requiredOption('--organisation <id>', 'organisation of the role')
    .requiredOption('--name <name>', 'name of the role')
    .requiredOption('--permissions <list>', 'permissions of the role, separated by commas', splitList)
    .addHelpText('after', permissionsHelp())
    .addHelpText(
      'after',
      '\nExample:\n  npx interchange role set-permissions --organisation 7f0c… --name reader \\\n    --permissions patients.patients.list',
    )
    .action(async ({ organisation, name, permissions }: Options) => {
      const changed = await environment.withSession(({ db }) =>
        setPermissions(db, { organisationId: organisation, name, permissions }),
      );
      environment.print(changed, changed.id);
    });
}

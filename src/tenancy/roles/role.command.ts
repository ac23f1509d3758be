/** `interchange role create | list | set-permissions`. Contract: ACC-20, ACC-21, ADM-78. */

import { Command } from 'commander';
import type { CommandEnvironment } from '../../platform/command/command.ts';
import { splitList } from '../../platform/command/split-list.ts';
import { NO_LIMIT } from '../../platform/http/paging.ts';
import { OPERATOR } from '../administration/author.ts';
import { changeText } from '../administration/change-text.ts';
import { requireOrganisation } from '../organisations/facilities.ts';
import { createRole, listRolePage, permissionsHelp, setPermissions } from './roles.ts';

interface Options {
  organisation: string;
  name: string;
  permissions: string[];
  requireSecondFactor?: boolean;
}

/** The commands of `interchange role`, in the order of its help. */
export const ROLE_COMMANDS = [createRoleCommand, setPermissionsCommand, listRolesCommand];

function createRoleCommand(environment: CommandEnvironment): Command {
  return new Command('create')
    .description('create a role of an organisation; prints its id')
    .requiredOption('--organisation <id>', 'organisation of the role')
    .requiredOption('--name <name>', 'name, 1 to 200 characters')
    .requiredOption('--permissions <list>', 'permissions of the role, separated by commas', splitList)
    .option('--require-second-factor', 'ask the people of the role for a second factor at the console')
    .addHelpText('after', permissionsHelp())
    .addHelpText(
      'after',
      '\nExample:\n  npx interchange role create --organisation 7f0c… --name reader \\\n    --permissions patients.patients.list,patients.patients.get,encounters.access',
    )
    .action(async ({ organisation: organisationId, name, permissions, requireSecondFactor }: Options) => {
      const role = { organisationId, name, permissions, requiresSecondFactor: requireSecondFactor };
      const created = await environment.withSession(async ({ db }) => {
        const { id } = await createRole(db, role, OPERATOR);
        return { id };
      });
      environment.print(created, created.id);
    });
}

function listRolesCommand(environment: CommandEnvironment): Command {
  return new Command('list')
    .description('list the roles of an organisation with their permissions')
    .requiredOption('--organisation <id>', 'organisation')
    .addHelpText('after', '\nExample:\n  npx interchange role list --organisation 7f0c… --json')
    .action(async ({ organisation }: { organisation: string }) => {
      const { items } = await environment.withSession(async (session) => {
        const scope = await requireOrganisation(session.db, organisation);
        return listRolePage(session, scope, { limit: NO_LIMIT });
      });
      const lines = items.map(
        ({ id, name, permissions, requiresSecondFactor }) =>
          `${id}  ${name}  ${permissions.join(',')}${requiresSecondFactor ? '  second factor required' : ''}`,
      );
      const none = 'This organisation has no role yet. Create one with: npx interchange role create';
      environment.print({ items }, lines.join('\n') || none);
    });
}

function setPermissionsCommand(environment: CommandEnvironment): Command {
  return new Command('set-permissions')
    .description('replace the permissions of a role, from the next call on, in every process')
    .requiredOption('--organisation <id>', 'organisation of the role')
    .requiredOption('--name <name>', 'name of the role')
    .requiredOption('--permissions <list>', 'permissions of the role, separated by commas', splitList)
    .option('--require-second-factor', 'ask the people of the role for a second factor at the console')
    .option('--no-require-second-factor', 'ask for no second factor (default: as it is now)')
    .addHelpText('after', permissionsHelp())
    .addHelpText(
      'after',
      '\nExample:\n  npx interchange role set-permissions --organisation 7f0c… --name reader \\\n    --permissions patients.patients.list',
    )
    .action(async ({ organisation: organisationId, name, permissions, requireSecondFactor }: Options) => {
      const requiresSecondFactor = requireSecondFactor;
      const { id, changed } = await environment.withSession(({ db }) =>
        setPermissions(db, { organisationId, name, permissions, requiresSecondFactor }),
      );
      environment.print({ id }, changeText(name, changed));
    });
}

/** `interchange role list` */
import { Command } from 'commander';
import type { CommandEnvironment } from '../../platform/command/command.ts';
import { requireOrganisation } from '../organisations/facilities.ts';
import { listRoles } from './role.store.ts';

export function listRolesCommand(environment: CommandEnvironment): Command {
  return new Command('list')
    .description('list the roles of an organisation with their permissions')
    .requiredOption('--organisation <id>', 'organisation')
    .addHelpText('after', '\nExample:\n  npx interchange role list --organisation 7f0c… --json')
    .action(async ({ organisation }: { organisation: string }) => {
      const items = await environment.withSession(async ({ db }) => {
        await requireOrganisation(db, organisation);
        return listRoles(db, { organisationId: organisation });
      });
      const lines = items.map(({ id, name, permissions }) => `${id}  ${name}  ${permissions.join(',')}`);
      environment.print(
        { items },
        lines.length === 0
          ? 'This organisation has no role yet. Create one with: npx interchange role create'
          : lines.join('\n'),
      );
    });
}

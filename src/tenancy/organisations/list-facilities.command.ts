/** `interchange facility list` */
import { Command } from 'commander';
import type { CommandEnvironment } from '../../platform/command/command.ts';
import { requireOrganisation } from './facilities.ts';
import { listFacilities } from './organisation.store.ts';

export function listFacilitiesCommand(environment: CommandEnvironment): Command {
  return new Command('list')
    .description('list the facilities of an organisation with their modules')
    .requiredOption('--organisation <id>', 'organisation')
    .addHelpText('after', '\nExample:\n  npx interchange facility list --organisation 7f0c… --json')
    .action(async ({ organisation }: { organisation: string }) => {
      const items = await environment.withSession(async ({ db }) => {
        await requireOrganisation(db, organisation);
        return listFacilities(db, { organisationId: organisation });
      });
      const lines = items.map(
        ({ id, name, timeZone, modules }) => `${id}  ${name}  ${timeZone}  ${modules.join(',')}`,
      );
      environment.print(
        { items },
        lines.length === 0
          ? 'This organisation has no facility yet. Create one with: npx interchange facility create'
          : lines.join('\n'),
      );
    });
}

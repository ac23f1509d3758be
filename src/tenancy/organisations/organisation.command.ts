/** `interchange organisation create | list`. Contract: CMD-7. */

import { Command } from 'commander';
import type { CommandEnvironment } from '../../platform/command/command.ts';
import { createOrganisation } from './facilities.ts';
import { listOrganisations } from './organisation.store.ts';

/** The commands of `interchange organisation`, in the order of its help. */
export const ORGANISATION_COMMANDS = [createOrganisationCommand, listOrganisationsCommand];

function createOrganisationCommand(environment: CommandEnvironment): Command {
  return new Command('create')
    .description('create an organisation; prints its id')
    .requiredOption('--name <name>', 'name, 1 to 200 characters')
    .option('--id <uuid>', 'id of the new organisation (default: a random one)')
    .addHelpText('after', '\nExample:\n  npx interchange organisation create --name "Lagos Hospitals"')
    .action(async (options: { name: string; id?: string }) => {
      const created = await environment.withSession(({ db }) => createOrganisation(db, options));
      environment.print(created, created.id);
    });
}

function listOrganisationsCommand(environment: CommandEnvironment): Command {
  return new Command('list')
    .description('list the organisations')
    .addHelpText('after', '\nExample:\n  npx interchange organisation list --json')
    .action(async () => {
      const items = await environment.withSession(({ db }) => listOrganisations(db));
      const lines = items.map(({ id, name }) => `${id}  ${name}`);
      const none =
        'There is no organisation yet. Create one with: npx interchange organisation create --name <name>';
      environment.print({ items }, lines.join('\n') || none);
    });
}

/** `interchange organisation list` */
import { Command } from 'commander';
import type { CommandEnvironment } from '../../platform/command/command.ts';
import { listOrganisations } from './organisation.store.ts';

export function listOrganisationsCommand(environment: CommandEnvironment): Command {
  return new Command('list')
    .description('list the organisations')
    .addHelpText('after', '\nExample:\n  npx interchange organisation list --json')
    .action(async () => {
      const items = await environment.withSession(({ db }) => listOrganisations(db));
      const lines = items.map(({ id, name }) => `${id}  ${name}`);
      environment.print(
        { items },
        lines.length === 0
          ? 'There is no organisation yet. Create one with: npx interchange organisation create --name <name>'
          : lines.join('\n'),
      );
    });
}

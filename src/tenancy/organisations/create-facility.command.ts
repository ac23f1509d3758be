/** `interchange facility create`. Contract: CMD-7. */
import { Command } from 'commander';
import type { CommandEnvironment } from '../../platform/command/command.ts';
import { createFacility, type NewFacility } from './facilities.ts';
import { MODULES } from './modules.ts';

interface Options {
  organisation: string;
  name: string;
  id?: string;
  timeZone?: string;
  modules?: string[];
}

export function createFacilityCommand(environment: CommandEnvironment): Command {
  return new Command('create')
    .description('create a facility of an organisation; prints its id')
    .requiredOption('--organisation <id>', 'organisation of the facility')
    .requiredOption('--name <name>', 'name, 1 to 200 characters')
    .option('--id <uuid>', 'id of the new facility (default: a random one)')
    .option('--time-zone <zone>', 'IANA time zone for dates without a zone (default: UTC)')
    .option(
      '--modules <list>',
      `modules that are on, separated by commas: ${MODULES.join(',')} (default: all)`,
      splitList,
    )
    .addHelpText(
      'after',
      '\nExample:\n  npx interchange facility create --organisation 7f0c… --name "Ikeja Clinic" --time-zone Africa/Lagos',
    )
    .action(async ({ organisation, ...options }: Options) => {
      const input: NewFacility = { organisationId: organisation, ...options };
      const created = await environment.withSession(({ db }) => createFacility(db, input));
      environment.print(created, created.id);
    });
}

/** `a, b,c` → `['a', 'b', 'c']`. */
export function splitList(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

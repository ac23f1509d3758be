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
    .description('make a facility of an organisation; prints its id')
    .requiredOption('--organisation <id>', 'organisation it belongs to')
    .requiredOption('--name <name>', 'name, 1 to 200 characters')
    .option('--id <uuid>', 'id to give it (default: a new one)')
    .option('--time-zone <zone>', 'IANA zone that dates without a zone are in (default: UTC)')
    .option('--modules <list>', `modules to switch on, of ${MODULES.join(',')} (default: all)`, splitList)
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

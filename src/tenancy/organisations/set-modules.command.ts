/** `interchange facility modules` */
import { Command } from 'commander';
import type { CommandEnvironment } from '../../platform/command/command.ts';
import { splitList } from './create-facility.command.ts';
import { setModules } from './facilities.ts';
import { MODULES } from './modules.ts';

interface Options {
  organisation: string;
  facility: string;
  modules: string[];
}

export function setModulesCommand(environment: CommandEnvironment): Command {
  return new Command('modules')
    .description('set the modules that are on for a facility, from the next call on')
    .requiredOption('--organisation <id>', 'organisation')
    .requiredOption('--facility <id>', 'facility')
    .requiredOption(
      '--modules <list>',
      `modules that are on, separated by commas: ${MODULES.join(',')}`,
      splitList,
    )
    .addHelpText(
      'after',
      '\nExample:\n  npx interchange facility modules --organisation 7f0c… --facility 91aa… --modules patients,encounters',
    )
    .action(async ({ organisation, facility, modules }: Options) => {
      await environment.withSession(({ db }) =>
        setModules(db, { organisationId: organisation, facilityId: facility, modules }),
      );
      environment.print({ id: facility, modules }, `On: ${modules.join(', ') || 'none'}`);
    });
}

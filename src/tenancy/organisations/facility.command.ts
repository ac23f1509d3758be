/** `interchange facility create | list | set | modules`. Contract: CMD-7, ADM-22, ADM-78. */

import { Command } from 'commander';
import { type CommandEnvironment, UsageError } from '../../platform/command/command.ts';
import { splitList } from '../../platform/command/split-list.ts';
import { NO_LIMIT } from '../../platform/http/paging.ts';
import { OPERATOR } from '../administration/author.ts';
import { changeText } from '../administration/change-text.ts';
import {
  changeFacility,
  createFacility,
  type FacilityChanges,
  listFacilityPage,
  type NewFacility,
  requireOrganisation,
  setModules,
} from './facilities.ts';
import { MODULES } from './modules.ts';
import type { Facility } from './organisation.store.ts';

interface CreateOptions extends Omit<NewFacility, 'organisationId'> {
  organisation: string;
}

/** The commands of `interchange facility`, in the order of its help. */
export const FACILITY_COMMANDS = [
  createFacilityCommand,
  listFacilitiesCommand,
  setFacilityCommand,
  setModulesCommand,
];

function createFacilityCommand(environment: CommandEnvironment): Command {
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
    .action(async ({ organisation, ...options }: CreateOptions) => {
      const input: NewFacility = { organisationId: organisation, ...options };
      const created = await environment.withSession(({ db }) => createFacility(db, input));
      if (input.modules?.length === 0)
        environment.stderr.write(
          'Every module of this facility is off. Turn modules on with interchange facility modules.\n',
        );
      environment.print(created, created.id);
    });
}

function listFacilitiesCommand(environment: CommandEnvironment): Command {
  return new Command('list')
    .description('list the facilities of an organisation with their modules')
    .requiredOption('--organisation <id>', 'organisation')
    .addHelpText('after', '\nExample:\n  npx interchange facility list --organisation 7f0c… --json')
    .action(async ({ organisation }: { organisation: string }) => {
      const { items } = await environment.withSession(async (session) => {
        const scope = await requireOrganisation(session.db, organisation);
        return listFacilityPage(session, scope, { limit: NO_LIMIT });
      });
      const lines = items.map((facility) => `${facility.id}  ${textOf(facility)}`);
      const none = 'This organisation has no facility yet. Create one with: npx interchange facility create';
      environment.print({ items }, lines.join('\n') || none);
    });
}

interface SetOptions extends FacilityChanges {
  organisation: string;
  facility: string;
}

function setFacilityCommand(environment: CommandEnvironment): Command {
  return new Command('set')
    .description('change the name, the time zone or the modules of a facility, from the next call on')
    .requiredOption('--organisation <id>', 'organisation')
    .requiredOption('--facility <id>', 'facility')
    .option('--name <name>', 'name, 1 to 200 characters')
    .option(
      '--time-zone <zone>',
      'IANA time zone for dates without a zone; those of stored records change when they are imported again',
    )
    .option('--modules <list>', 'modules that are on, separated by commas', splitList)
    .addHelpText(
      'after',
      '\nExample:\n  npx interchange facility set --organisation 7f0c… --facility 91aa… --time-zone Africa/Lagos',
    )
    .action(async ({ organisation: organisationId, facility: facilityId, ...options }: SetOptions) => {
      const { name, timeZone, modules } = options;
      if ([name, timeZone, modules].every((value) => value === undefined))
        throw new UsageError('Say what to change: --name, --time-zone or --modules.');
      const change = { organisationId, facilityId, changes: { name, timeZone, modules } };
      const { facility, changed } = await environment.withSession(({ db }) =>
        changeFacility(db, change, OPERATOR),
      );
      environment.print(facility, `${changeText(facility.name, changed)}\n${textOf(facility)}`);
    });
}

function textOf({ name, timeZone, modules }: Facility): string {
  return `${name}  ${timeZone}  ${modules.join(',') || 'none'}`;
}

interface ModulesOptions {
  organisation: string;
  facility: string;
  modules: string[];
}

function setModulesCommand(environment: CommandEnvironment): Command {
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
    .action(async ({ organisation, facility, modules }: ModulesOptions) => {
      const done = await environment.withSession(({ db }) =>
        setModules(db, { organisationId: organisation, facilityId: facility, modules }),
      );
      const text = changeText(done.facility.name, done.changed);
      environment.print({ id: facility, modules }, `${text}\nOn: ${modules.join(', ') || 'none'}`);
    });
}

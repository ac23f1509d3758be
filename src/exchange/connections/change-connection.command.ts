/** `interchange connection update`, `enable` and `disable` */
import { Command } from 'commander';
import { type CommandEnvironment, UsageError } from '../../platform/command/command.ts';
import { transaction } from '../../platform/db/database.ts';
import { requireFacility } from '../../tenancy/organisations/facilities.ts';
import { updateConnection } from './connection.store.ts';
import { BY_OPERATOR } from './connection.ts';
import { type SettingOptions, settingsOf, withSettings } from './connection-options.ts';
import { printConnection, requireConnection } from './named-connection.ts';

export function updateConnectionCommand(environment: CommandEnvironment): Command {
  return withSettings(new Command('update'), { creating: false })
    .description('change settings of a connection')
    .requiredOption('--id <id>', 'connection')
    .option('--all-facilities', 'deliver patients of every facility of the organisation')
    .addHelpText(
      'after',
      '\nExample:\n  npx interchange connection update --id 7f0c… --address https://hie.example.org/v2/patients',
    )
    .action(
      async ({ id, allFacilities, ...options }: SettingOptions & { id: string; allFacilities?: true }) => {
        if (allFacilities && options.facility !== undefined)
          throw new UsageError('Give --facility or --all-facilities, not both.');
        const settings = { ...settingsOf(options), ...(allFacilities ? { facilityIds: null } : {}) };
        if (Object.keys(settings).length === 0) throw new UsageError('Give at least one setting to change.');
        await environment.withSession(async (session) => {
          const key = await requireConnection(session, id);
          for (const facility of options.facility ?? [])
            await requireFacility(session.db, key.organisationId, facility);
          const changes = { ...settings, ...(settings.address === undefined ? {} : BY_OPERATOR) };
          await transaction(session.db, (client) => updateConnection(client, key, changes));
          await printConnection(environment, session, key);
        });
      },
    );
}

export function switchConnectionCommand(environment: CommandEnvironment, to: 'enable' | 'disable'): Command {
  const meaning =
    to === 'enable'
      ? 'start deliveries again, and accept callbacks'
      : 'stop deliveries, and refuse callbacks';
  return new Command(to)
    .description(meaning)
    .requiredOption('--id <id>', 'connection')
    .addHelpText('after', `\nExample:\n  npx interchange connection ${to} --id 7f0c…`)
    .action(async ({ id }: { id: string }) => {
      await environment.withSession(async (session) => {
        const key = await requireConnection(session, id);
        await updateConnection(session.db, key, { disabled: to === 'disable' });
        await printConnection(environment, session, key);
      });
    });
}

/** `interchange connection create`, `list`, `show`, `update`, `enable` and `disable`. Contract: CMD-12. */
import { Command } from 'commander';
import { type CommandEnvironment, UsageError } from '../../platform/command/command.ts';
import { requireFacility, requireOrganisation } from '../../tenancy/organisations/facilities.ts';
import { changeConnection, readConnection } from './change-connection.ts';
import { type Connection, connectionView } from './connection.schema.ts';
import { BY_OPERATOR } from './connection.ts';
import { givenSettings, type SettingOptions, withSettings } from './connection-options.ts';
import { createConnection } from './create-connection.ts';
import { listCovering, listEveryConnection } from './manage-connections.ts';
import { connectionLine, printConnection, requireConnection } from './named-connection.ts';
import { resyncCommand, resyncHint } from './resync.command.ts';
import { activateSecretCommand, rotateSecretCommand } from './rotate-secret.command.ts';

type Needed = Record<'organisation' | 'name' | 'address' | 'clientId', string>;

/** The commands of `interchange connection`, in the order of its help. */
export const CONNECTION_COMMANDS = [
  createConnectionCommand,
  rotateSecretCommand,
  activateSecretCommand,
  listConnectionsCommand,
  showConnectionCommand,
  updateConnectionCommand,
  (environment: CommandEnvironment) => switchConnectionCommand(environment, 'enable'),
  (environment: CommandEnvironment) => switchConnectionCommand(environment, 'disable'),
  resyncCommand,
];

function createConnectionCommand(environment: CommandEnvironment): Command {
  return withSettings(new Command('create'), { creating: true })
    .description('connect an organisation to an exchange; prints its secrets, which are never shown again')
    .requiredOption('--organisation <id>', 'organisation whose patients are delivered')
    .addHelpText(
      'after',
      '\nExample:\n  npx interchange connection create --organisation 7f0c… --name "Lagos HIE" \\\n    --address https://hie.example.org/patients --client-id clinic-1',
    )
    .action(async ({ organisation, ...options }: SettingOptions & Needed) => {
      const { name, address, clientId } = options;
      const settings = givenSettings(options);
      const { created, alike } = await environment.withSession(async ({ db, keys, publicBaseUrl }) => {
        const scope = await requireOrganisation(db, organisation);
        for (const facility of options.facility ?? []) await requireFacility(db, organisation, facility);
        const input = { facilityIds: null, ...settings, name, address, clientId };
        const alike = (await listCovering(db, scope)).filter((other) => other.enabled && other.name === name);
        const now = environment.now();
        const making = { db, keys, publicBaseUrl, now, author: BY_OPERATOR };
        return { created: await createConnection(making, scope, input), alike };
      });
      environment.print(
        created,
        `connection       ${created.id}\noutbound secret  ${created.outboundSecret}\ncallback secret  ${created.callbackSecret}\ncallback address ${created.callbackUrl}\nGive both secrets to the exchange now. They are not shown again.\n${resyncHint(created.id, 'who are there already')}`,
      );
      if (alike.length > 0) note(environment, noteOf(alike));
    });
}

/** Who runs the command again may mean the connection that is there. A disabled one delivers nothing. */
function noteOf(alike: readonly Connection[]): string {
  const ids = alike.map(({ id }) => id).join(', ');
  return `The organisation had an enabled connection of this name already: ${ids}. A patient whom several connections cover is delivered by each of them. To stop one: npx interchange connection disable --id <id>`;
}

function note({ stderr }: CommandEnvironment, text: string): void {
  stderr.write(`note: ${text}\n`);
}

function listConnectionsCommand(environment: CommandEnvironment): Command {
  return new Command('list')
    .description('list the connections of one organisation or of all')
    .option('--organisation <id>', 'only connections of this organisation')
    .addHelpText('after', '\nExample:\n  npx interchange connection list')
    .action(async ({ organisation }: { organisation?: string }) => {
      await environment.withSession(async ({ db, publicBaseUrl }) => {
        const found =
          organisation === undefined
            ? await listEveryConnection(db)
            : await listCovering(db, await requireOrganisation(db, organisation));
        const views = found.map((connection) => connectionView(connection, publicBaseUrl));
        const none = 'There is no connection yet. Create one with: npx interchange connection create';
        environment.print({ items: views }, found.map(connectionLine).join('\n') || none);
      });
    });
}

function showConnectionCommand(environment: CommandEnvironment): Command {
  return new Command('show')
    .description('show one connection: settings, state of the exchange, and the last use of each secret')
    .requiredOption('--id <id>', 'connection')
    .addHelpText('after', '\nExample:\n  npx interchange connection show --id 7f0c…')
    .action(async ({ id }: { id: string }) => {
      await environment.withSession(async (session) =>
        printConnection(environment, session, await requireConnection(session, id)),
      );
    });
}

function updateConnectionCommand(environment: CommandEnvironment): Command {
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
        const settings = { ...givenSettings(options), ...(allFacilities ? { facilityIds: null } : {}) };
        if (Object.keys(settings).length === 0) throw new UsageError('Give at least one setting to change.');
        await environment.withSession(async (session) => {
          const key = await requireConnection(session, id);
          for (const facility of options.facility ?? [])
            await requireFacility(session.db, key.organisationId, facility);
          const { facilityIds: before } = await readConnection(session.db, key, key.connectionId);
          const change = { changes: settings, author: BY_OPERATOR };
          const { facilityIds: now } = await changeConnection(session.db, key, change);
          await printConnection(environment, session, key);
          if (coversMore(before, now))
            note(environment, resyncHint(id, 'of a facility that is new to the connection'));
          if (coversMore(now, before))
            note(
              environment,
              `A facility was taken out of the connection. Deliveries that wait for its patients will be held when they are due for a try, until you replay or skip them. To see them: npx interchange delivery list --connection ${id} --status held`,
            );
        });
      },
    );
}

/** Null: every facility of the organisation. */
function coversMore(before: string[] | null, after: string[] | null): boolean {
  if (before === null) return false;
  return after === null || after.some((id) => !before.includes(id));
}

function switchConnectionCommand(environment: CommandEnvironment, to: 'enable' | 'disable'): Command {
  const meaning =
    to === 'enable'
      ? 'start deliveries again, try at once what waits for its next try, and accept callbacks'
      : 'stop deliveries, and refuse callbacks';
  return new Command(to)
    .description(meaning)
    .requiredOption('--id <id>', 'connection')
    .addHelpText('after', `\nExample:\n  npx interchange connection ${to} --id 7f0c…`)
    .action(async ({ id }: { id: string }) => {
      await environment.withSession(async (session) => {
        const key = await requireConnection(session, id);
        const { enabled } = await readConnection(session.db, key, key.connectionId);
        const changes = { disabled: to === 'disable' };
        await changeConnection(session.db, key, { changes, author: BY_OPERATOR });
        await printConnection(environment, session, key);
        if (!enabled && to === 'enable')
          note(environment, resyncHint(id, 'who changed while the connection was disabled'));
      });
    });
}

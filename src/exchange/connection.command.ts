/** `interchange connection …`: connections to exchanges, for the operator (design section 5). */
import { Command } from 'commander';
import {
  type CommandEnvironment,
  CommandError,
  type CommandSession,
  UsageError,
} from '../platform/command/command.ts';
import { transaction } from '../platform/db/database.ts';
import { PURPOSES_OF_USE, type PurposeOfUse } from '../privacy/purpose-of-use.ts';
import { isUuid } from '../tenancy/check-access.ts';
import { splitList } from '../tenancy/create-facility.command.ts';
import { requireFacility, requireOrganisation } from '../tenancy/facilities.ts';
import { connectionView } from './connection.schema.ts';
import {
  listConnections,
  organisationOfConnection,
  organisationsWithConnections,
  updateConnection,
} from './connection.store.ts';
import {
  type Connection,
  ConnectionSettingError,
  type ConnectionSettings,
  checkSettings,
} from './connection.ts';
import { createConnection } from './create-connection.ts';
import type { ConnectionKey } from './lane.store.ts';
import { DEFAULT_OVERLAP_SECONDS, rotateSecret } from './rotate-secret.ts';

interface Settings {
  name?: string;
  address?: string;
  clientId?: string;
  callbackHeader?: string;
  identifierSystem?: string;
  purposeOfUse?: string;
  maxInFlight?: string;
  timeoutMs?: string;
  facility?: string[];
}

export function createConnectionCommand(environment: CommandEnvironment): Command {
  return withSettings(new Command('create'))
    .description('connect an organisation to an exchange; prints the secrets, this once')
    .requiredOption('--organisation <id>', 'organisation whose patients are delivered')
    .addHelpText(
      'after',
      '\nExample:\n  npx interchange connection create --organisation 7f0c… --name "Lagos HIE" \\\n    --address https://hie.example.org/patients --client-id clinic-1',
    )
    .action(async ({ organisation, ...options }: Settings & { organisation: string }) => {
      const { name, address, clientId } = options;
      if (name === undefined || address === undefined || clientId === undefined)
        throw new UsageError('Give --name, --address and --client-id.');
      const settings = settingsOf(options);
      const created = await environment.withSession(async ({ db, keys, publicBaseUrl }) => {
        await requireOrganisation(db, organisation);
        for (const facility of options.facility ?? []) await requireFacility(db, organisation, facility);
        const input = { facilityIds: null, ...settings, name, address, clientId };
        const scope = { organisationId: organisation.toLowerCase() };
        return createConnection({ db, keys, publicBaseUrl, now: environment.now() }, scope, input);
      });
      environment.print(
        created,
        `connection       ${created.id}\noutbound secret  ${created.outboundSecret}\ncallback secret  ${created.callbackSecret}\ncallback address ${created.callbackUrl}\nGive both secrets to the exchange now. They are not shown again.`,
      );
    });
}

export function rotateSecretCommand(environment: CommandEnvironment): Command {
  return new Command('rotate-secret')
    .description('give a connection new secrets; the old ones stay good for an overlap')
    .requiredOption('--id <id>', 'connection')
    .option('--direction <direction>', 'outbound or callback (default: both)')
    .option(
      '--overlap-hours <hours>',
      'for how long the old secrets stay good',
      String(DEFAULT_OVERLAP_SECONDS / 3_600),
    )
    .addHelpText(
      'after',
      '\nExample:\n  npx interchange connection rotate-secret --id 7f0c… --overlap-hours 48',
    )
    .action(
      async ({ id, direction, overlapHours }: { id: string; direction?: string; overlapHours: string }) => {
        if (direction !== undefined && direction !== 'outbound' && direction !== 'callback')
          throw new UsageError('--direction must be outbound or callback.');
        const hours = Number(overlapHours);
        if (!(hours >= 0 && hours <= 2_160))
          throw new UsageError('--overlap-hours must be a number from 0 to 2160.');
        const rotation = {
          overlapSeconds: Math.round(hours * 3_600),
          ...(direction === undefined ? {} : { direction }),
        };
        const rotated = await environment.withSession(async (session) => {
          const key = await requireConnection(session, id);
          return rotateSecret(
            { ...session, now: environment.now() },
            key,
            rotation as Parameters<typeof rotateSecret>[2],
          );
        });
        if (rotated === undefined) throw unknownConnection(id);
        const lines = [
          rotated.outboundSecret === undefined ? '' : `outbound secret  ${rotated.outboundSecret}\n`,
          rotated.callbackSecret === undefined ? '' : `callback secret  ${rotated.callbackSecret}\n`,
          `The old ones are good until ${rotated.oldGoodUntil}. Requests are signed with the new one from now on.`,
        ];
        environment.print(rotated, lines.join(''));
      },
    );
}

export function listConnectionsCommand(environment: CommandEnvironment): Command {
  return new Command('list')
    .description('connections, of one organisation or of all')
    .option('--organisation <id>', 'only of this organisation')
    .addHelpText('after', '\nExample:\n  npx interchange connection list')
    .action(async ({ organisation }: { organisation?: string }) => {
      await environment.withSession(async ({ db, publicBaseUrl }) => {
        if (organisation !== undefined) await requireOrganisation(db, organisation);
        const organisations =
          organisation === undefined ? await organisationsWithConnections(db) : [organisation];
        const found: Connection[] = [];
        for (const organisationId of organisations)
          found.push(...(await listConnections(db, { organisationId })));
        const views = found.map((connection) => connectionView(connection, publicBaseUrl));
        environment.print({ items: views }, found.map(line).join('\n'));
      });
    });
}

export function showConnectionCommand(environment: CommandEnvironment): Command {
  return new Command('show')
    .description('one connection: settings, circuit, and what each secret was last used for')
    .requiredOption('--id <id>', 'connection')
    .addHelpText('after', '\nExample:\n  npx interchange connection show --id 7f0c…')
    .action(async ({ id }: { id: string }) => {
      await environment.withSession(async (session) =>
        printConnection(environment, session, await requireConnection(session, id)),
      );
    });
}

export function updateConnectionCommand(environment: CommandEnvironment): Command {
  return withSettings(new Command('update'))
    .description('change settings of a connection')
    .requiredOption('--id <id>', 'connection')
    .option('--all-facilities', 'cover every facility of the organisation')
    .addHelpText(
      'after',
      '\nExample:\n  npx interchange connection update --id 7f0c… --address https://hie.example.org/v2/patients',
    )
    .action(async ({ id, allFacilities, ...options }: Settings & { id: string; allFacilities?: true }) => {
      if (allFacilities && options.facility !== undefined)
        throw new UsageError('Give --facility or --all-facilities, not both.');
      const settings = { ...settingsOf(options), ...(allFacilities ? { facilityIds: null } : {}) };
      if (Object.keys(settings).length === 0) throw new UsageError('Give at least one setting to change.');
      await environment.withSession(async (session) => {
        const key = await requireConnection(session, id);
        for (const facility of options.facility ?? [])
          await requireFacility(session.db, key.organisationId, facility);
        await transaction(session.db, (client) => updateConnection(client, key, settings));
        await printConnection(environment, session, key);
      });
    });
}

export function switchConnectionCommand(environment: CommandEnvironment, to: 'enable' | 'disable'): Command {
  const meaning =
    to === 'enable' ? 'deliver again, and take callbacks' : 'deliver nothing more, and refuse callbacks';
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

/** Throws when the id is malformed (usage) or unknown. */
export async function requireConnection(
  { db }: Pick<CommandSession, 'db'>,
  id: string,
): Promise<ConnectionKey> {
  if (!isUuid(id))
    throw new UsageError('The connection must be a UUID. List them with: npx interchange connection list');
  const organisationId = await organisationOfConnection(db, id);
  if (organisationId === undefined) throw unknownConnection(id);
  return { organisationId, connectionId: id.toLowerCase() };
}

function unknownConnection(id: string): CommandError {
  return new CommandError(`There is no connection ${id}. List them with: npx interchange connection list`);
}

async function printConnection(
  environment: CommandEnvironment,
  { db, publicBaseUrl }: CommandSession,
  key: ConnectionKey,
): Promise<void> {
  const [found] = await listConnections(db, key, { connectionId: key.connectionId });
  if (found === undefined) throw unknownConnection(key.connectionId);
  const view = connectionView(found, publicBaseUrl);
  const secrets = view.secrets.map(
    (secret) =>
      `secret    ${secret.direction}, made ${secret.createdAt}, ${secret.goodUntil === null ? 'current' : `good until ${secret.goodUntil}`}, ` +
      `last used ${secret.lastUsedAt === null ? 'never' : `${secret.lastUsedAt} for ${secret.lastUsedFor}`}`,
  );
  environment.print(
    view,
    [line(found), `callback  ${view.callbackUrl} in ${view.callbackHeader}`, ...secrets].join('\n'),
  );
}

function line({ id, name, address, enabled, circuitOpenSince }: Connection): string {
  const state = enabled ? (circuitOpenSince === null ? 'enabled' : 'exchange down') : 'disabled';
  return `${id}  ${state.padEnd(13)}  ${name}  ${address}`;
}

function withSettings(command: Command): Command {
  return command
    .option('--name <name>', 'what people call it')
    .option('--address <url>', 'where deliveries are posted: https, or http to this machine')
    .option('--client-id <id>', 'names us to the exchange')
    .option(
      '--facility <ids>',
      'facilities covered, separated by commas (default: all, also later ones)',
      splitList,
    )
    .option(
      '--callback-header <name>',
      'header that carries the signature of callbacks (default: x-signature)',
    )
    .option(
      '--identifier-system <uri>',
      'system of the ids that the exchange assigns (default: urn:uuid:<connection>)',
    )
    .option('--purpose-of-use <purpose>', 'purpose of the deliveries in the access log (default: OPS)')
    .option('--max-in-flight <n>', 'requests under way, of one worker process (default: 16)')
    .option('--timeout-ms <n>', 'how long an answer may take (default: 10000)');
}

function settingsOf(options: Settings): Partial<ConnectionSettings> {
  const {
    name,
    address,
    clientId,
    callbackHeader,
    identifierSystem,
    purposeOfUse,
    maxInFlight,
    timeoutMs,
    facility,
  } = options;
  if (purposeOfUse !== undefined && !isPurpose(purposeOfUse))
    throw new UsageError('--purpose-of-use must be TREATMENT, PAYMENT, OPS or RESEARCH.');
  const settings: Partial<ConnectionSettings> = {
    ...(name === undefined ? {} : { name }),
    ...(address === undefined ? {} : { address }),
    ...(clientId === undefined ? {} : { clientId }),
    ...(callbackHeader === undefined ? {} : { callbackHeader: callbackHeader.toLowerCase() }),
    ...(identifierSystem === undefined ? {} : { identifierSystem }),
    ...(purposeOfUse === undefined ? {} : { purposeOfUse }),
    ...(maxInFlight === undefined ? {} : { maxInFlight: Number(maxInFlight) }),
    ...(timeoutMs === undefined ? {} : { timeoutMs: Number(timeoutMs) }),
    ...(facility === undefined ? {} : { facilityIds: [...new Set(facility.map((id) => id.toLowerCase()))] }),
  };
  try {
    checkSettings(settings);
  } catch (error) {
    if (error instanceof ConnectionSettingError) throw new UsageError(error.message);
    throw error;
  }
  return settings;
}

function isPurpose(text: string): text is PurposeOfUse {
  return (PURPOSES_OF_USE as readonly string[]).includes(text);
}

/** The connection that a command names: finding it, and printing it. */
import type { CommandEnvironment, CommandSession } from '../../platform/command/command.ts';
import { isUuid } from '../../platform/uuid.ts';
import { listFacilities } from '../../tenancy/organisations/organisation.store.ts';
import { exchangeError } from '../errors.ts';
import type { ConnectionKey } from '../queue/lane.store.ts';
import { readConnection } from './change-connection.ts';
import { type Connection, connectionView, type SecretStatus } from './connection.schema.ts';
import { organisationOfConnection } from './connection.store.ts';

/** Throws when the id is malformed (usage) or unknown. */
export async function requireConnection(
  { db }: Pick<CommandSession, 'db'>,
  id: string,
): Promise<ConnectionKey> {
  if (!isUuid(id))
    throw exchangeError('bad_option', {
      problem:
        'The id of a connection must be a UUID. List connections with: npx interchange connection list',
    });
  const organisationId = await organisationOfConnection(db, id);
  if (organisationId === undefined) throw exchangeError('unknown_connection', { id });
  return { organisationId, connectionId: id.toLowerCase() };
}

export async function printConnection(
  environment: CommandEnvironment,
  { db, publicBaseUrl }: CommandSession,
  key: ConnectionKey,
): Promise<void> {
  const found = await readConnection(db, key, key.connectionId);
  const view = connectionView(found, publicBaseUrl);
  const secrets = found.secrets.map((secret) => secretLine(secret, environment.now()));
  const facilities = await facilitiesText(db, found);
  environment.print(view, [connectionLine(found), ...settingLines(view, facilities), ...secrets].join('\n'));
}

async function facilitiesText(
  db: CommandSession['db'],
  { organisationId, facilityIds }: Connection,
): Promise<string> {
  if (facilityIds === null) return 'all of the organisation, also later ones';
  const facilities = await listFacilities(db, { organisationId }, { facilityIds });
  return facilities.map(({ id, name }) => `${name} (${id})`).join(', ');
}

function settingLines(connection: ReturnType<typeof connectionView>, facilities: string): string[] {
  const { clientId, callbackUrl, callbackHeader, identifierSystem, purposeOfUse } = connection;
  const { maxInFlight, timeoutMs } = connection;
  return [
    `facilities        ${facilities}`,
    `client id         ${clientId}`,
    `callback          ${callbackUrl}, signature in ${callbackHeader}`,
    `identifier system ${identifierSystem}`,
    `purpose of use    ${purposeOfUse}`,
    `limits            ${maxInFlight} requests at the same time by one worker process, ${timeoutMs} ms for an answer`,
  ];
}

function secretLine(secret: SecretStatus, now: Date): string {
  const { direction, createdAt, lastUsedAt, lastUsedFor } = secret;
  const used = lastUsedAt === null ? 'never' : `${lastUsedAt.toISOString()} for ${lastUsedFor}`;
  return `secret            ${direction}, created ${createdAt.toISOString()}, ${secretState(secret, now)}, last used ${used}`;
}

function secretState({ activeFrom, goodUntil }: SecretStatus, now: Date): string {
  if (activeFrom === null) return 'waits to be activated';
  if (activeFrom > now) return `signs from ${activeFrom.toISOString()} on`;
  if (goodUntil === null) return 'current';
  return `${goodUntil > now ? 'valid until' : 'ended'} ${goodUntil.toISOString()}`;
}

/** One line of a list. */
export function connectionLine({ id, name, address, enabled, circuitOpenSince }: Connection): string {
  const state = enabled ? (circuitOpenSince === null ? 'enabled' : 'deliveries fail') : 'disabled';
  return `${id}  ${state.padEnd(13)}  ${name}  ${address}`;
}

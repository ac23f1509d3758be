/** Changes the settings of a connection, for an administrator or the operator. */
import { type Pool, transaction } from '../../platform/db/database.ts';
import { definedMembers } from '../../platform/defined-members.ts';
import { notFound } from '../../tenancy/errors.ts';
import { callWorkers } from '../queue/delivery-call.ts';
import type { ConnectionKey } from '../queue/lane.store.ts';
import { listConnections, updateConnection } from './connection.store.ts';
import { type AddressAuthor, type Connection, type ConnectionSettings, checkSettings } from './connection.ts';
import { queryChange, recordConnection, settingsOf } from './record-connection.ts';

export type ConnectionChanges = Partial<ConnectionSettings> & { disabled?: boolean };

/**
 * What is undefined stays as it is. Returns the connection as it is then. Throws `bad_connection_setting`. The facilities
 * must exist.
 */
export async function changeConnection(
  db: Pool,
  key: ConnectionKey,
  { changes, author }: { changes: ConnectionChanges; author: AddressAuthor },
): Promise<Connection> {
  const checked = checkSettings(changes, author.reach);
  const { operatorAddress } = author;
  await transaction(db, async (client) => {
    callWorkers(client, key.organisationId);
    const [before] = await listConnections(client, key, { connectionId: key.connectionId });
    if (before === undefined || !(await updateConnection(client, key, { ...checked, operatorAddress })))
      return;
    await recordConnection(client, key, author.by, {
      action: 'connection.change',
      name: before.name,
      facilityIds: before.facilityIds,
      before: settingsOf(before),
      after: {
        ...settingsOf(before),
        ...definedMembers(settingsOf(checked)),
        ...enabledOf(checked),
        ...queryChange(before.address, checked.address),
      },
    });
  });
  const [changed] = await listConnections(db, key, { connectionId: key.connectionId });
  if (changed === undefined) throw notFound('The connection');
  return changed;
}

function enabledOf({ disabled }: ConnectionChanges): { enabled?: boolean } {
  return disabled === undefined ? {} : { enabled: !disabled };
}

/** Changes the settings of a connection, for an administrator or the operator. Contract: EXC-57. */
import { type Client, type Pool, type Queryable, transaction } from '../../platform/db/database.ts';
import { definedMembers } from '../../platform/defined-members.ts';
import { isUuid } from '../../platform/uuid.ts';
import { notFound } from '../../tenancy/errors.ts';
import type { OrganisationScope } from '../../tenancy/scope.ts';
import { waitingDueNow } from '../queue/connection-state.store.ts';
import { callWorkers } from '../queue/delivery-call.ts';
import type { ConnectionKey } from '../queue/lane.store.ts';
import type { Connection, ConnectionSettings } from './connection.schema.ts';
import { findConnection, lockConnection, updateConnection } from './connection.store.ts';
import { type AddressAuthor, checkSettings } from './connection.ts';
import { keptSettings, queryChange, recordConnection } from './record-connection.ts';

export type ConnectionChanges = Partial<ConnectionSettings> & { disabled?: boolean };

/** Rejects for whoever may not change the connection. Called behind its lock: a change before may have made it another. */
export type RequireRight = (client: Client) => Promise<void>;

/**
 * What is undefined stays as it is. Returns the connection as it is then. Throws `bad_connection_setting`. The facilities
 * must exist.
 */
export async function changeConnection(
  db: Pool,
  key: ConnectionKey,
  {
    changes,
    author,
    requireRight,
  }: { changes: ConnectionChanges; author: AddressAuthor; requireRight?: RequireRight },
): Promise<Connection> {
  const checked = { ...changes, ...checkSettings(await withoutSameTexts(db, key, changes), author.reach) };
  const { operatorAddress } = author;
  const { disabled } = changes;
  const set = { ...checked, operatorAddress };
  return inTurn(db, key, { requireRight, set }, async (client, before) => {
    await recordConnection(client, key, author.by, {
      action: 'connection.change',
      name: before.name,
      facilityIds: before.facilityIds,
      before: keptSettings(before),
      after: {
        ...keptSettings(before),
        ...definedMembers({
          ...keptSettings(checked),
          enabled: disabled === undefined ? undefined : !disabled,
        }),
        ...queryChange(before.address, checked.address),
      },
    });
    return readConnection(client, key, key.connectionId);
  });
}

/** Texts that are stored already need no check: those of an earlier version may be refused by now. */
async function withoutSameTexts(
  db: Queryable,
  key: ConnectionKey,
  { name, identifierSystem, ...others }: ConnectionChanges,
): Promise<ConnectionChanges> {
  const stored = await findConnection(db, key, key);
  return {
    ...others,
    ...(name === stored?.name ? {} : { name }),
    ...(identifierSystem === stored?.identifierSystem ? {} : { identifierSystem }),
  };
}

/**
 * One change of a connection after the other: `set`, if any, is set, then `work` gets the connection as the change before
 * left it, behind its lock. Workers load it anew. What waits for its next try is tried now if the change may mend
 * it.
 */
export function inTurn<Result>(
  db: Pool,
  key: ConnectionKey,
  {
    requireRight,
    set = {},
  }: { requireRight?: RequireRight | undefined; set?: Parameters<typeof updateConnection>[2] },
  work: (client: Client, before: Connection) => Promise<Result>,
): Promise<Result> {
  return transaction(db, async (client) => {
    await lockConnection(client, key);
    await requireRight?.(client);
    callWorkers(client, key.organisationId);
    const before = await readConnection(client, key, key.connectionId);
    await updateConnection(client, key, set);
    if (mayMendDeliveries(before, set)) await waitingDueNow(client, key);
    return work(client, before);
  });
}

/** What failed before may be taken now. Enabling counts also for a connection that is enabled: it means to try now. */
function mayMendDeliveries(
  before: Connection,
  { disabled, address = before.address, clientId = before.clientId, timeoutMs = 0 }: ConnectionChanges,
): boolean {
  const isElsewhere = address !== before.address || clientId !== before.clientId;
  return disabled === false || isElsewhere || timeoutMs > before.timeoutMs;
}

/** With a facility, only connections that cover it are there. */
export type ConnectionScope = OrganisationScope & { facilityId?: string };

/** 404 for one that is not there. */
export async function readConnection(
  db: Queryable,
  scope: ConnectionScope,
  connectionId: string,
): Promise<Connection> {
  const { organisationId, facilityId } = scope;
  const found = isUuid(connectionId)
    ? await findConnection(db, { organisationId }, { facilityId, connectionId })
    : undefined;
  if (found === undefined) throw notFound('The connection');
  return found;
}

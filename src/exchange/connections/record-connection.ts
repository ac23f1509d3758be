/** Keeps changes of connections on record, without secrets. Contract: ADM-34. */
import type { Client } from '../../platform/db/database.ts';
import type { Author } from '../../tenancy/administration/author.ts';
import { recordChange } from '../../tenancy/audit/audit.ts';
import type { AuditEntry } from '../../tenancy/audit/audit-entry.ts';
import type { ConnectionKey } from '../queue/lane.store.ts';
import type { Connection, ConnectionSettings } from './connection.ts';

export async function recordConnection(
  client: Client,
  key: ConnectionKey,
  author: Author,
  { name, ...change }: Omit<AuditEntry, 'subject'> & { name?: string },
): Promise<void> {
  await recordChange(client, key, author, {
    ...change,
    subject: { type: 'connection', id: key.connectionId, name },
  });
}

/** The members that are kept. */
export function settingsOf(settings: Partial<ConnectionSettings & Pick<Connection, 'enabled'>>) {
  const { name, address, clientId, callbackHeader, identifierSystem, purposeOfUse } = settings;
  const { maxInFlight, timeoutMs, facilityIds, enabled } = settings;
  const texts = { name, address, clientId, callbackHeader, identifierSystem, purposeOfUse };
  return { ...texts, maxInFlight, timeoutMs, facilityIds, enabled };
}

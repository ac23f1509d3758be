/** Keeps changes of connections on record, without secrets. Contract: ADM-34. */
import type { Client } from '../../platform/db/database.ts';
import type { Author } from '../../tenancy/administration/author.ts';
import { recordChange } from '../../tenancy/audit/audit.ts';
import type { AuditEntry } from '../../tenancy/audit/audit-entry.ts';
import type { ConnectionKey } from '../queue/lane.store.ts';
import type { Connection, ConnectionSettings } from './connection.schema.ts';

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
export function keptSettings(settings: Partial<ConnectionSettings & Pick<Connection, 'enabled'>>) {
  const { name, address, clientId, callbackHeader, identifierSystem, purposeOfUse } = settings;
  const { maxInFlight, timeoutMs, facilityIds, enabled } = settings;
  const texts = {
    name,
    address: address && withoutQuery(address),
    clientId,
    callbackHeader,
    identifierSystem,
    purposeOfUse,
  };
  return { ...texts, maxInFlight, timeoutMs, facilityIds, enabled };
}

/** What some exchanges have behind the question mark is a key. */
function withoutQuery(address: string): string {
  const [place = ''] = address.split('?', 1);
  return place === address ? address : `${place}?…`;
}

/** Says that the query became another one, which the record does not show. */
export function queryChange(before: string, after: string | undefined): { addressQuery?: string } {
  const same = after === undefined || queryOf(before) === queryOf(after);
  return same ? {} : { addressQuery: 'another' };
}

const queryOf = (address: string) => URL.parse(address)?.search;

/**
 * Makes a connection: its settings, its breaker, and a secret for each direction.
 * Contract: EXC-1, EXC-45.
 */
import { randomUUID } from 'node:crypto';
import type { KeyRing } from '../../platform/crypto/key-ring.ts';
import { type Pool, transaction } from '../../platform/db/database.ts';
import type { OrganisationScope } from '../../tenancy/scope.ts';
import { callWorkers } from '../queue/delivery-call.ts';
import { type ConnectionSettings, type CreatedConnection, callbackUrl } from './connection.schema.ts';
import { insertConnection } from './connection.store.ts';
import { type AddressAuthor, checkSettings } from './connection.ts';
import { insertSecret } from './connection-secret.store.ts';
import { makeConnectionSecret } from './connection-secret.ts';
import { keptSettings, recordConnection } from './record-connection.ts';

export interface ConnectionDependencies {
  db: Pool;
  keys: KeyRing;
  publicBaseUrl: string;
  now: Date;
  author: AddressAuthor;
}

/** What a new connection must be told; the rest has defaults. */
export type NewConnection = Pick<ConnectionSettings, 'name' | 'address' | 'clientId' | 'facilityIds'> &
  Partial<ConnectionSettings>;

/** Throws `bad_connection_setting`. The facilities must exist. */
export async function createConnection(
  { db, keys, publicBaseUrl, now, author }: ConnectionDependencies,
  { organisationId }: OrganisationScope,
  input: NewConnection,
): Promise<CreatedConnection> {
  const connectionId = randomUUID();
  const key = { organisationId, connectionId };
  const given = {
    callbackHeader: 'x-signature',
    identifierSystem: `urn:uuid:${connectionId}`,
    purposeOfUse: 'OPS' as const,
    maxInFlight: 16,
    timeoutMs: 10_000,
    ...input,
  };
  const settings = checkSettings(given, author.reach);
  const { outbound, callback } = await transaction(db, async (client) => {
    const sealing = { db: client, keys };
    const outbound = await makeConnectionSecret(sealing, key, 'outbound');
    const callback = await makeConnectionSecret(sealing, key, 'callback');
    callWorkers(client, organisationId);
    await insertConnection(client, key, { ...settings, operatorAddress: author.operatorAddress });
    await recordConnection(client, key, author.by, {
      action: 'connection.create',
      name: settings.name,
      facilityIds: settings.facilityIds,
      after: keptSettings(settings),
    });
    await insertSecret(client, key, outbound.stored, now);
    await insertSecret(client, key, callback.stored, now);
    return { outbound, callback };
  });
  return {
    id: connectionId,
    outboundSecret: outbound.text,
    callbackSecret: callback.text,
    callbackUrl: callbackUrl(publicBaseUrl, connectionId),
  };
}

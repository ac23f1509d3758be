/**
 * Secrets of a connection: made here, shown once, sealed at rest, good together while they are rotated.
 * Contract: EXC-45.
 */
import { randomBytes } from 'node:crypto';
import { openSecret, sealSecret } from '../../outbound/sealed-secret.ts';
import type { KeyRing, SealedFor } from '../../platform/crypto/key-ring.ts';
import type { SealedRow, SealedTable } from '../../platform/crypto/sealed-table.ts';
import type { Queryable } from '../../platform/db/database.ts';
import type { ConnectionKey } from '../queue/lane.store.ts';
import { organisationsWithConnections } from './connection.store.ts';
import {
  listSecrets,
  replaceSecrets,
  type SealedConnectionSecret,
  type SecretDirection,
} from './connection-secret.store.ts';

const SECRET_BYTES = 32;

/** A new secret: the text that is shown once, and what is stored of it, in the transaction that stores it. */
export async function makeConnectionSecret(
  using: { db: Queryable; keys: KeyRing },
  key: ConnectionKey,
  direction: SecretDirection,
): Promise<{ text: string; stored: SealedConnectionSecret }> {
  const text = randomBytes(SECRET_BYTES).toString('base64url');
  const stored = await sealSecret(using, (id) => connectionSecretSealedFor(key, id, direction), text);
  return { text, stored: { ...stored, direction } };
}

/** The text of a stored secret. Rejects when the row was changed or moved. */
export function openConnectionSecret(
  keys: KeyRing,
  key: ConnectionKey,
  { id, direction, sealed }: SealedConnectionSecret,
): Promise<string> {
  return openSecret(keys, connectionSecretSealedFor(key, id, direction), sealed);
}

export function connectionSecretSealedFor(
  { organisationId, connectionId }: ConnectionKey,
  id: string,
  direction: string,
): SealedFor {
  return { purpose: 'exchange-secret', context: `${organisationId}/${connectionId}/${id}/${direction}` };
}

/** Where a rotation of the master key finds the secrets of all connections (docs/adr/0086). */
export const SEALED_CONNECTION_SECRETS: SealedTable = {
  name: 'secrets of connections',
  table: 'exchange_secret',
  async list(db) {
    const rows: SealedRow[] = [];
    for (const organisationId of await organisationsWithConnections(db))
      for (const { id, direction, sealed, ...key } of await listSecrets(db, { organisationId }))
        rows.push({
          id: [key.organisationId, key.connectionId, id],
          sealedFor: connectionSecretSealedFor(key, id, direction),
          sealed,
        });
    return rows;
  },
  replace: replaceSecrets,
};

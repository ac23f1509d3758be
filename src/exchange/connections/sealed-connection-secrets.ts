/** Where connections keep their secrets, for a rotation of the master key (docs/adr/0086). */
import type { SealedTable } from '../../platform/crypto/sealed-table.ts';
import { listSecrets, replaceSecrets } from './connection-secret.store.ts';
import { sealedFor } from './connection-secret.ts';

/** The secrets of all connections at rest. */
export const SEALED_CONNECTION_SECRETS: SealedTable = {
  name: 'secrets of connections',
  table: 'exchange_secret',
  list: async (db) =>
    (await listSecrets(db)).map(({ id, direction, sealed, ...key }) => ({
      id: [key.organisationId, key.connectionId, id],
      sealedFor: sealedFor(key, id, direction),
      sealed,
    })),
  replace: replaceSecrets,
};

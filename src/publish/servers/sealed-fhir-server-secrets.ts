/** Where targets keep their secrets, for a rotation of the master key (docs/adr/0086). */
import type { SealedTable } from '../../platform/crypto/sealed-table.ts';
import { listTargetSecrets, replaceTargetSecrets } from './fhir-server.store.ts';
import { sealedFor } from './fhir-server-secret.ts';

/** The secrets of all targets at rest. */
export const SEALED_TARGET_SECRETS: SealedTable = {
  name: 'secrets of targets',
  table: 'publish_target',
  list: async (db) =>
    (await listTargetSecrets(db)).map(({ targetId, id, sealed }) => ({
      id: [targetId, id],
      sealedFor: sealedFor(targetId, id),
      sealed,
    })),
  replace: replaceTargetSecrets,
};

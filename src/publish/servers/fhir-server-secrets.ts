/** The secrets of FHIR servers: what they are sealed for, and where a rotation of the master key finds them (docs/adr/0086). */
import type { SealedFor } from '../../platform/crypto/key-ring.ts';
import type { SealedTable } from '../../platform/crypto/sealed-table.ts';
import { listFhirServerSecrets, replaceFhirServerSecrets } from './fhir-server.store.ts';

export function secretSealedFor(fhirServerId: string, id: string): SealedFor {
  return { purpose: 'publish-secret', context: `${fhirServerId}/${id}` };
}

export const SEALED_FHIR_SERVER_SECRETS: SealedTable = {
  name: 'secrets of targets',
  table: 'publish_target',
  list: async (db) =>
    (await listFhirServerSecrets(db)).map(({ fhirServerId, id, sealed }) => ({
      id: [fhirServerId, id],
      sealedFor: secretSealedFor(fhirServerId, id),
      sealed,
    })),
  replace: replaceFhirServerSecrets,
};

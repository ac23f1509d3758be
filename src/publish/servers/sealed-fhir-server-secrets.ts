/** Where FHIR servers keep their secrets, for a rotation of the master key (docs/adr/0086). */
import type { SealedTable } from '../../platform/crypto/sealed-table.ts';
import { listFhirServerSecrets, replaceFhirServerSecrets } from './fhir-server.store.ts';
import { sealedFor } from './fhir-server-secret.ts';

/** The secrets of all FHIR servers at rest. */
export const SEALED_FHIR_SERVER_SECRETS: SealedTable = {
  name: 'secrets of targets',
  table: 'publish_target',
  list: async (db) =>
    (await listFhirServerSecrets(db)).map(({ fhirServerId, id, sealed }) => ({
      id: [fhirServerId, id],
      sealedFor: sealedFor(fhirServerId, id),
      sealed,
    })),
  replace: replaceFhirServerSecrets,
};

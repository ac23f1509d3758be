/** A data key that a test knows, so that it can seal and derive what commands then open. */
import { insertDataKey } from '../../src/platform/crypto/data-key.store.ts';
import { createMasterKey, wrapDataKey } from '../../src/platform/crypto/master-key.ts';
import type { Queryable } from '../../src/platform/db/database.ts';

/** The bytes of the master key are the first data key, too. `owner` is of the owner of the schema. */
export async function insertKnownDataKey(owner: Queryable, masterKeyBytes: Buffer): Promise<void> {
  const masterKey = createMasterKey(masterKeyBytes);
  const wrapped = wrapDataKey(masterKey, 1, masterKeyBytes);
  await insertDataKey(owner, { number: 1, masterKeyId: masterKey.id, wrapped });
}

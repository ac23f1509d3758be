/** The keys of a process: those of its database, read again when they may be others. Contract: OPS-15. */

import { holdDataKeys } from '../../platform/crypto/data-keys.ts';
import { createKeyRing, type KeyRing } from '../../platform/crypto/key-ring.ts';
import type { MasterKeySource } from '../../platform/crypto/master-key.ts';
import { createPool, type Queryable } from '../../platform/db/database.ts';
import { FURTHER_CONNECTIONS } from '../runtime/further-connections.ts';
import { openOrMakeDataKeys } from './first-data-key.ts';

export interface ServiceKeys extends KeyRing {
  /** Of the master key that is held. */
  readonly masterKeyId: string;
  readonly fixed: MasterKeySource['fixed'];
  /** Reads the keys again. Rejects with WrongMasterKeyError when the database belongs to another key by now. */
  check(db: Queryable): Promise<void>;
  close(): Promise<void>;
}

/** Throws WrongMasterKeyError. `url` is of the owner of the schema, which is current. */
export async function openServiceKeys(url: string, source: MasterKeySource): Promise<ServiceKeys> {
  const max = FURTHER_CONNECTIONS.keys;
  const pool = createPool({ url, max, applicationName: 'interchange keys' }, () => undefined);
  try {
    const held = holdDataKeys(pool, source, await openOrMakeDataKeys(pool, source));
    return {
      ...createKeyRing(held),
      fixed: source.fixed,
      get masterKeyId() {
        return held.masterKeyId;
      },
      check: (db) => held.check(db),
      close: () => pool.end(),
    };
  } catch (error) {
    await pool.end();
    throw error;
  }
}

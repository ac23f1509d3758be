/** The first data key of a database (docs/adr/0085, docs/adr/0128). */
import { randomBytes } from 'node:crypto';
import { insertDataKey, lockDataKeys } from '../../platform/crypto/data-key.store.ts';
import { type OpenedDataKeys, openDataKeys, WrongMasterKeyError } from '../../platform/crypto/data-keys.ts';
import { type MasterKeySource, wrapDataKey } from '../../platform/crypto/master-key.ts';
import { hasTable, type Pool, type Queryable, transaction, withPool } from '../../platform/db/database.ts';
import { SEALED_TABLES } from './sealed-tables.ts';

/**
 * Refuse a master key that is not the one of the database, whatever its schema is. Writes nothing. `url` is of the
 * owner of the schema. Throws WrongMasterKeyError.
 */
export async function refuseWrongMasterKey(url: string, source: MasterKeySource): Promise<void> {
  await withPool({ url, max: 1, applicationName: 'interchange keys' }, async (owner) => {
    const opened = (await hasTable(owner, 'data_key')) ? await openDataKeys(owner, source) : undefined;
    if (opened === undefined) await refuseUsed(owner);
  });
}

/** The data keys of a database whose schema is current; the first is made when there is none. Throws WrongMasterKeyError. */
export async function openOrMakeDataKeys(owner: Pool, source: MasterKeySource): Promise<OpenedDataKeys> {
  const opened = await openDataKeys(owner, source);
  if (opened !== undefined) return opened;
  return transaction(owner, async (client) => {
    await lockDataKeys(client);
    const made = await openDataKeys(client, source);
    if (made !== undefined) return made;
    await refuseUsed(client);
    const masterKey = await source.load();
    const dataKey = randomBytes(32);
    const wrapped = wrapDataKey(masterKey, 1, dataKey);
    await insertDataKey(client, { number: 1, masterKeyId: masterKey.id, wrapped });
    return { masterKey, dataKeys: [dataKey] };
  });
}

/** A new data key would open nothing of what the database holds. */
async function refuseUsed(db: Queryable): Promise<void> {
  if (!(await isUsed(db))) return;
  throw new WrongMasterKeyError(
    'The database was used before, but its data keys are missing: no master key opens what is sealed in it. Nothing was changed.',
    'Put the table data_key back from a backup. See docs/backup.md.',
  );
}

async function isUsed(db: Queryable): Promise<boolean> {
  for (const { table, list } of [...SEALED_TABLES, CHAINS])
    if ((await hasTable(db, table)) && (await list(db)).length > 0) return true;
  return false;
}

/** What the access log is sealed by is in none of {@link SEALED_TABLES}. */
const CHAINS = {
  table: 'access_log_writer',
  list: async (db: Queryable) => (await db.query({ text: 'select from access_log_writer limit 1' })).rows,
};

/** The first data key of a database, which may be older than data keys are (docs/adr/0085). */
import { randomBytes } from 'node:crypto';
import { hasTable, insertDataKey, lockDataKeys } from '../../platform/crypto/data-key.store.ts';
import { type OpenedDataKeys, openDataKeys, WrongMasterKeyError } from '../../platform/crypto/data-keys.ts';
import { openUnderAny } from '../../platform/crypto/key-ring.ts';
import { type MasterKeySource, wrapDataKey } from '../../platform/crypto/master-key.ts';
import { type Pool, type Queryable, transaction, withPool } from '../../platform/db/database.ts';
import { countSeals } from '../../privacy/access-log/access-log-keys.ts';
import { SEALED_TABLES } from './sealed-tables.ts';

/**
 * Refuse a master key that is not the one of the database, whatever its schema is. Writes nothing. `url` is of the
 * owner of the schema. Throws WrongMasterKeyError.
 */
export async function refuseWrongMasterKey(url: string, source: MasterKeySource): Promise<void> {
  await withPool({ url, max: 1, applicationName: 'interchange keys' }, async (owner) => {
    const opened = (await hasTable(owner, 'data_key')) ? await openDataKeys(owner, source) : undefined;
    if (opened === undefined) await refuseOtherSeals(owner, source);
  });
}

/**
 * The data keys of a database whose schema is current; the first is made when there is none. A database that was used
 * before there were data keys sealed under the master key itself, which so becomes its first data key.
 */
export async function openOrMakeDataKeys(owner: Pool, source: MasterKeySource): Promise<OpenedDataKeys> {
  const opened = await openDataKeys(owner, source);
  if (opened !== undefined) return opened;
  return transaction(owner, async (client) => {
    await lockDataKeys(client);
    const made = await openDataKeys(client, source);
    if (made !== undefined) return made;
    await refuseOtherSeals(client, source);
    const masterKey = await source.load();
    const dataKey = (await isInUse(client)) ? masterKey.bytes : randomBytes(32);
    const wrapped = wrapDataKey(masterKey, 1, dataKey);
    await insertDataKey(client, { number: 1, masterKeyId: masterKey.id, wrapped });
    return { masterKey, dataKeys: [dataKey] };
  });
}

/**
 * Before there were data keys: the master key must have sealed what the database holds. Half of it is enough, since
 * nothing kept another key from sealing something then.
 */
async function refuseOtherSeals(db: Queryable, source: MasterKeySource): Promise<void> {
  const { bytes, id } = await source.load();
  let [own, others] = [0, 0];
  for (const { table, list } of SEALED_TABLES) {
    if (!(await hasTable(db, table))) continue;
    for (const { sealedFor, sealed } of await list(db))
      if (openUnderAny([bytes], sealedFor, sealed) === undefined) others += 1;
      else own += 1;
  }
  if (await hasTable(db, 'access_log_writer')) {
    const chains = await countSeals(db, bytes);
    own += chains.own;
    others += chains.others;
  }
  if (own >= others) return;
  throw new WrongMasterKeyError(
    `${source.name} is key ${id}, but it opens only ${own} of the ${own + others} sealed secrets and chains in the database. Nothing was changed.`,
    'Give the master key that this database was set up with. See docs/operations.md, "The master key".',
  );
}

async function isInUse(db: Queryable): Promise<boolean> {
  const { rows } = await db.query<{ used: boolean }>({
    text: `
      select exists (select from organisation)
        or exists (select from signing_key)
        or exists (select from access_log_writer) as used`,
  });
  return rows[0]?.used === true;
}

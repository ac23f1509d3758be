/** SQL of the data keys, wrapped under master keys. */
import { ADVISORY_LOCKS } from '../db/advisory-locks.ts';
import type { Queryable } from '../db/database.ts';

export interface WrappedDataKey {
  number: number;
  masterKeyId: string;
  wrapped: Buffer;
}

/** Newest first. */
export async function listDataKeys(db: Queryable): Promise<WrappedDataKey[]> {
  const { rows } = await db.query<WrappedDataKey>({
    name: 'data-key-list',
    text: `
      select number, master_key_id as "masterKeyId", wrapped
      from data_key
      order by number desc, added_at desc`,
  });
  return rows;
}

/**
 * The database's own clock says when, so that of two master keys the newer is known. A key is later than all before it, even
 * if that clock was set back.
 */
export async function insertDataKey(db: Queryable, key: WrappedDataKey): Promise<void> {
  await db.query({
    text: `
      insert into data_key (number, master_key_id, wrapped, added_at)
      select $1, $2, $3, greatest(now(), max(added_at) + interval '1 microsecond')
      from data_key`,
    values: [key.number, key.masterKeyId, key.wrapped],
  });
}

/** From now on only this master key unwraps anything. */
export async function keepOnlyMasterKey(db: Queryable, masterKeyId: string): Promise<void> {
  await db.query({ text: 'delete from data_key where master_key_id <> $1', values: [masterKeyId] });
}

/**
 * No data key is added while a transaction holds it. Take it before the lock of a row with a secret: a rotation takes
 * them in this order. Not one statement with a read after it: that one would see what was there before the wait.
 */
export async function shareDataKeys(db: Queryable): Promise<void> {
  await db.query({
    name: 'data-key-share',
    text: 'select pg_advisory_xact_lock_shared($1)',
    values: [ADVISORY_LOCKS.dataKeys],
  });
}

/** Waits for whoever seals; until the transaction ends nobody seals, and nobody else changes the data keys. */
export async function lockDataKeys(db: Queryable): Promise<void> {
  await db.query({ text: 'select pg_advisory_xact_lock($1)', values: [ADVISORY_LOCKS.dataKeys] });
}

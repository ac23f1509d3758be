/**
 * SQL of the restores of this database: each is recorded under the seal of the access log, so that verification can tell
 * an operator's restore from somebody's (docs/adr/0136).
 * Contract: LOG-16.
 */
import type { Queryable } from '../../platform/db/database.ts';
import { restoreSeal } from '../access-log/hash-chain.ts';

export interface Restore {
  id: string;
  restoredAt: Date;
  /** Up to when the backup holds everything; null where that is not known. */
  backupTakenAt: Date | null;
}

/** Needs the owner of the schema. */
export async function insertRestore(owner: Queryable, key: Uint8Array, restore: Restore): Promise<void> {
  await owner.query({
    text: 'insert into database_restore (id, restored_at, backup_taken_at, seal) values ($1, $2, $3, $4)',
    values: [restore.id, restore.restoredAt, restore.backupTakenAt, restoreSeal(key, restore)],
  });
}

/** A record as it is stored. */
export interface SealedRestore extends Restore {
  seal: Buffer;
}

/** Oldest first. */
export async function listSealedRestores(db: Queryable): Promise<SealedRestore[]> {
  const { rows } = await db.query<SealedRestore>({
    text: `
      select id, restored_at as "restoredAt", backup_taken_at as "backupTakenAt", seal
      from database_restore
      order by restored_at, id`,
  });
  return rows;
}

/** Needs the owner of the schema. */
export async function replaceRestoreSeals(
  owner: Queryable,
  restores: readonly { id: string; seal: Buffer }[],
): Promise<void> {
  await owner.query({
    text: `
      update database_restore r
      set seal = s.seal
      from unnest($1::uuid[], $2::bytea[]) s (id, seal)
      where r.id = s.id`,
    values: [restores.map(({ id }) => id), restores.map(({ seal }) => seal)],
  });
}

/** Oldest first. A record that this key, the newest, did not seal is among the `forged`. */
export async function listRestores(
  db: Queryable,
  newest: Uint8Array,
): Promise<{ restores: Restore[]; forged: Restore[] }> {
  const restores: Restore[] = [];
  const forged: Restore[] = [];
  for (const { seal, ...restore } of await listSealedRestores(db))
    (restoreSeal(newest, restore).equals(seal) ? restores : forged).push(restore);
  return { restores, forged };
}

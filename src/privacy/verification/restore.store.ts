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

/** Oldest first. A record that none of the keys sealed is among the `forged`. */
export async function listRestores(
  db: Queryable,
  keys: readonly Uint8Array[],
): Promise<{ restores: Restore[]; forged: Restore[] }> {
  const { rows } = await db.query<Restore & { seal: Buffer }>({
    text: `
      select id, restored_at as "restoredAt", backup_taken_at as "backupTakenAt", seal
      from database_restore
      order by restored_at, id`,
  });
  const restores: Restore[] = [];
  const forged: Restore[] = [];
  for (const { seal, ...restore } of rows)
    (keys.some((key) => restoreSeal(key, restore).equals(seal)) ? restores : forged).push(restore);
  return { restores, forged };
}

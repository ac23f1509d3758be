/** What a feature keeps sealed in a table, so that a rotation of the master key can seal it anew. */
import type { Queryable } from '../db/database.ts';
import { type DataKeys, openUnderAny, type SealedFor, sealUnder } from './key-ring.ts';

export interface SealedRow {
  /** Columns that find the row. */
  id: readonly string[];
  sealedFor: SealedFor;
  sealed: Buffer;
}

/** A row with what is sealed in it now, in place of what was. */
export interface ResealedRow extends SealedRow {
  resealed: Buffer;
}

export interface SealedTable {
  /** What is sealed, as an operator calls it. */
  name: string;
  table: string;
  list(db: Queryable): Promise<SealedRow[]>;
  /** Rows that hold something else than `sealed` by now stay as they are. */
  replace(db: Queryable, rows: readonly ResealedRow[]): Promise<void>;
}

/** How many rows of a table were sealed anew, and how many no data key opens: those stay as they are. */
export interface Resealed {
  name: string;
  resealed: number;
  unreadable: number;
}

/** Seal everything in a table under the newest data key. */
export async function resealTable(db: Queryable, table: SealedTable, dataKeys: DataKeys): Promise<Resealed> {
  const rows = await table.list(db);
  const [newest] = dataKeys;
  const resealed = rows.flatMap((row): ResealedRow[] => {
    const plain = openUnderAny(dataKeys, row.sealedFor, row.sealed);
    return plain === undefined ? [] : [{ ...row, resealed: sealUnder(newest, row.sealedFor, plain) }];
  });
  if (resealed.length > 0) await table.replace(db, resealed);
  return { name: table.name, resealed: resealed.length, unreadable: rows.length - resealed.length };
}

/**
 * The data keys as a process holds them, and whether its master key is the one of the database
 * (docs/adr/0085).
 * Contract: SEC-14.
 */
import type { Queryable } from '../db/database.ts';
import { listDataKeys, shareDataKeys, type WrappedDataKey } from './data-key.store.ts';
import type { DataKeySource, DataKeys } from './key-ring.ts';
import { type MasterKey, type MasterKeySource, unwrapDataKey } from './master-key.ts';

/** The database belongs to another master key. Nothing was written. */
export class WrongMasterKeyError extends Error {
  override name = 'WrongMasterKeyError';
  readonly reason: string;
  /** What to do. */
  readonly remedy: string;

  constructor(reason: string, remedy: string) {
    super(`${reason} ${remedy}`);
    this.reason = reason;
    this.remedy = remedy;
  }
}

/** A master key that fits the database, and what it unwrapped there. */
export interface OpenedDataKeys {
  masterKey: MasterKey;
  /** Newest first. */
  dataKeys: DataKeys;
}

/** Undefined when the database has no data key yet. Throws WrongMasterKeyError. */
export async function openDataKeys(
  db: Queryable,
  source: MasterKeySource,
): Promise<OpenedDataKeys | undefined> {
  const rows = await listDataKeys(db);
  if (rows.length === 0) return undefined;
  const masterKey = await source.load();
  return openRows(rows, masterKey) ?? (await refuse(source, masterKey, rows));
}

export interface HeldDataKeys extends DataKeySource {
  readonly masterKeyId: string;
  /** Read them on any connection. Rejects with WrongMasterKeyError when the database belongs to another key by now. */
  check(db: Queryable): Promise<void>;
}

/**
 * Reads the data keys again whenever it is asked, so that a rotation is noticed where it matters. Reading rejects when
 * the database has come to be another one.
 */
export function holdDataKeys(pool: Queryable, source: MasterKeySource, opened: OpenedDataKeys): HeldDataKeys {
  let held = opened;
  let reading: Promise<DataKeys> | undefined;

  async function readOn(db: Queryable): Promise<DataKeys> {
    const rows = await listDataKeys(db);
    const kept = openRows(rows, held.masterKey);
    const isAlone = rows.every(({ masterKeyId }) => masterKeyId === held.masterKey.id);
    const found = isAlone ? kept : ((await openFromFile(rows, kept)) ?? kept);
    if (found === undefined || !oldest(found).equals(oldest(held))) throw anotherDatabase();
    held = found;
    return held.dataKeys;
  }

  /** A key file that was replaced is taken over as soon as its key opens the database. */
  async function openFromFile(
    rows: readonly WrappedDataKey[],
    kept: OpenedDataKeys | undefined,
  ): Promise<OpenedDataKeys | undefined> {
    try {
      const masterKey = await source.load();
      return openRows(rows, masterKey) ?? (await refuse(source, masterKey, rows));
    } catch (error) {
      if (kept === undefined) throw error;
      return undefined;
    }
  }

  return {
    get known() {
      return held.dataKeys;
    },
    get masterKeyId() {
      return held.masterKey.id;
    },
    check: async (db) => void (await readOn(db)),
    async read(db) {
      if (db !== undefined) {
        await shareDataKeys(db);
        return readOn(db);
      }
      reading ??= readOn(pool).finally(() => {
        reading = undefined;
      });
      return reading;
    },
  };
}

function oldest({ dataKeys }: OpenedDataKeys): Buffer {
  return dataKeys.at(-1) ?? dataKeys[0];
}

/** Undefined when the master key fits none of the rows. */
function openRows(rows: readonly WrappedDataKey[], masterKey: MasterKey): OpenedDataKeys | undefined {
  const own = rows.filter(({ masterKeyId }) => masterKeyId === masterKey.id);
  const [newest, ...older] = own.map(({ number, wrapped }) => {
    const dataKey = unwrapDataKey(masterKey, number, wrapped);
    if (dataKey === undefined)
      throw new WrongMasterKeyError(
        `The master key does not open data key ${number}, because somebody changed it in the database.`,
        'Restore the table data_key from a backup.',
      );
    return dataKey;
  });
  return newest && { masterKey, dataKeys: [newest, ...older] };
}

async function refuse(
  { name, remedy }: MasterKeySource,
  { id }: MasterKey,
  rows: readonly WrappedDataKey[],
): Promise<never> {
  const expected = [...new Set(rows.map(({ masterKeyId }) => masterKeyId))];
  throw new WrongMasterKeyError(
    `${name} is key ${id}, but the database expects master key ${expected.join(' or ')}. Nothing was changed.`,
    `${await remedy(expected)} See docs/operations.md, "The master key".`,
  );
}

function anotherDatabase(): WrongMasterKeyError {
  return new WrongMasterKeyError(
    'The database has other data keys than when this process started, so it is another database. The process writes nothing sealed to it.',
    'Restart the process.',
  );
}

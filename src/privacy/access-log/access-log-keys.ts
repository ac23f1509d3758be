/**
 * Keys of the access log, and sealing its heads anew when they are renewed (docs/adr/0008, docs/adr/0085).
 * Contract: LOG-14.
 */
import type { KeyRing } from '../../platform/crypto/key-ring.ts';
import { type DataKeys, deriveKey } from '../../platform/crypto/key-ring.ts';
import type { Resealed } from '../../platform/crypto/sealed-table.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { listArchives, replaceArchiveSeals } from '../archive/archive.store.ts';
import { isSealed, sealManifest } from '../archive/archive-manifest.ts';
import { listSealedRestores, replaceRestoreSeals } from '../verification/restore.store.ts';
import type { WriterRow } from './access-log.store.ts';
import {
  listWriters,
  readRegistry,
  replaceHeadSeals,
  replaceRegistrySeal,
} from './access-log-chain.store.ts';
import { headSeal, registrySeal, restoreSeal } from './hash-chain.ts';

const PURPOSE = 'access-log';
/** What is sealed, as an operator calls it. */
export const CHAINS_NAME = 'chains of the access log';
export const ARCHIVES_NAME = 'archived months of the access log';
export const RESTORES_NAME = 'records of restores';

/** The key that a new chain has. */
export async function newestChainKey(keys: KeyRing, db: Queryable): Promise<Buffer> {
  const [newest] = await keys.deriveAll(db, PURPOSE);
  return newest;
}

/** The keys of all chains, newest first. */
export function allChainKeys(keys: KeyRing, db: Queryable): Promise<[Buffer, ...Buffer[]]> {
  return keys.deriveAll(db, PURPOSE);
}

/**
 * Seal the register and the head of every chain with the newest key. Who knows an older one can then not change what
 * is in a chain. A running writer finds its head changed and begins a new chain. What no key sealed stays as it is,
 * for verification to find.
 */
export async function resealAccessLog(db: Queryable, dataKeys: DataKeys): Promise<Resealed> {
  const keys = chainKeys(dataKeys);
  const [newest] = keys;
  const registry = await readRegistry(db);
  if (
    registry !== undefined &&
    keys.some((key) => registrySeal(key, registry.lastNumber).equals(registry.seal))
  )
    await replaceRegistrySeal(db, registrySeal(newest, registry.lastNumber));
  const writers = await listWriters(db, { lock: true });
  const intact = writers.filter((writer) => keys.some((key) => isSealedBy(key, writer)));
  await replaceHeadSeals(
    db,
    intact.map(({ id, lastSequence, lastHash }) => ({
      id,
      seal: headSeal(newest, id, lastSequence, lastHash),
    })),
  );
  return {
    name: CHAINS_NAME,
    resealed: intact.length,
    unreadable: writers.length - intact.length,
  };
}

/**
 * Seal the record of every archived month with the newest key; verification takes no other. The files keep the seal that
 * they have: older keys open it, and the record says what is in them.
 */
export async function resealArchives(db: Queryable, dataKeys: DataKeys): Promise<Resealed> {
  const keys = chainKeys(dataKeys);
  const manifests = await listArchives(db);
  const intact = manifests.filter((manifest) => isSealed(keys, manifest));
  await replaceArchiveSeals(
    db,
    intact.map((manifest) => sealManifest(keys, manifest)),
  );
  return { name: ARCHIVES_NAME, resealed: intact.length, unreadable: manifests.length - intact.length };
}

/** Seal the records of restores with the newest key; verification takes no other. */
export async function resealRestores(db: Queryable, dataKeys: DataKeys): Promise<Resealed> {
  const keys = chainKeys(dataKeys);
  const records = await listSealedRestores(db);
  const intact = records.filter((record) => keys.some((key) => restoreSeal(key, record).equals(record.seal)));
  await replaceRestoreSeals(
    db,
    intact.map((record) => ({ id: record.id, seal: restoreSeal(keys[0], record) })),
  );
  return { name: RESTORES_NAME, resealed: intact.length, unreadable: records.length - intact.length };
}

function chainKeys([newest, ...older]: DataKeys): [Buffer, ...Buffer[]] {
  return [deriveKey(newest, PURPOSE), ...older.map((dataKey) => deriveKey(dataKey, PURPOSE))];
}

function isSealedBy(key: Uint8Array, { id, lastSequence, lastHash, headSeal: seal }: WriterRow): boolean {
  return headSeal(key, id, lastSequence, lastHash).equals(seal);
}

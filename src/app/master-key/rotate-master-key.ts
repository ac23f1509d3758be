/**
 * Replacing the master key while the service runs (docs/adr/0085). First a new master key opens the database beside
 * the old one. Once every process has it, the new one alone does, and everything is sealed under a new data key.
 * Each step is one transaction, so that one that was interrupted is done again from its beginning.
 * Contract: OPS-16.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  insertDataKey,
  keepOnlyMasterKey,
  listDataKeys,
  lockDataKeys,
  type WrappedDataKey,
} from '../../platform/crypto/data-key.store.ts';
import { type OpenedDataKeys, openDataKeys } from '../../platform/crypto/data-keys.ts';
import type { DataKeys } from '../../platform/crypto/key-ring.ts';
import { type MasterKey, type MasterKeySource, wrapDataKey } from '../../platform/crypto/master-key.ts';
import { type Resealed, resealTable } from '../../platform/crypto/sealed-table.ts';
import { type Client, type Pool, type Queryable, transaction } from '../../platform/db/database.ts';
import { outageOf } from '../../platform/db/unavailable.ts';
import { listWriters } from '../../privacy/access-log/access-log-chain.store.ts';
import {
  ARCHIVES_NAME,
  CHAINS_NAME,
  RESTORES_NAME,
  resealAccessLog,
  resealArchives,
  resealRestores,
} from '../../privacy/access-log/access-log-keys.ts';
import { listArchives } from '../../privacy/archive/archive.store.ts';
import { listSealedRestores } from '../../privacy/verification/restore.store.ts';
import { appError } from '../errors.ts';
import { askForRenewal, holdersOfOtherKeys, mayTakeOver } from './key-holders.ts';
import type { NewKey } from './new-key.ts';
import { SEALED_TABLES } from './sealed-tables.ts';

/** Processes take a replaced key file over within this time, when they can. */
const TAKE_OVER_MS = 10_000;
const TAKE_OVER_STEP_MS = 100;

/** The master keys that open the database: one, or two while one replaces the other. */
export interface KeyRotation {
  /** Newest first. */
  masterKeyIds: string[];
  dataKeys: number;
}

export async function readRotation(db: Queryable): Promise<KeyRotation> {
  const rows = await listDataKeys(db);
  return { masterKeyIds: masterKeyIds(rows), dataKeys: new Set(rows.map(({ number }) => number)).size };
}

/**
 * Let a new master key open the database beside the one of `source`. Doing it twice changes nothing more. `keep` stores
 * the key, once it is sure that it is taken; when it rejects, nothing is changed.
 */
export async function addMasterKey(
  owner: Pool,
  source: MasterKeySource,
  { key: added, keep }: NewKey,
): Promise<KeyRotation> {
  return transaction(owner, async (client) => {
    const { masterKey, dataKeys, rows } = await lockedKeys(client, source);
    if (added.id === masterKey.id) throw appError('new_key_in_use');
    const pending = masterKeyIds(rows).find((id) => id !== masterKey.id && id !== added.id);
    if (pending !== undefined) throw appError('other_rotation', { pending, given: added.id });
    const known = rows.some(({ masterKeyId }) => masterKeyId === added.id);
    if (!known)
      for (const [index, dataKey] of dataKeys.toReversed().entries()) {
        const wrapped = wrapDataKey(added, index + 1, dataKey);
        await insertDataKey(client, { number: index + 1, masterKeyId: added.id, wrapped });
      }
    await keep();
    return readRotation(client);
  });
}

/**
 * From now on the master key of `source` alone opens the database. A new data key, which the old master key never
 * opened, seals everything anew. Throws `held_by_processes` while a process holds another master key.
 */
export async function finishRotation(owner: Pool, source: MasterKeySource): Promise<Resealed[]> {
  const configured = await source.load();
  requireNewer(await listDataKeys(owner), configured);
  await waitForTakeOver(owner, configured);
  return transaction(owner, async (client) => {
    const { masterKey, dataKeys, rows } = await lockedKeys(client, source);
    requireNewer(rows, masterKey);
    await refuseHolders(client, masterKey);
    const newest = randomBytes(32);
    const number = dataKeys.length + 1;
    await keepOnlyMasterKey(client, masterKey.id);
    const wrapped = wrapDataKey(masterKey, number, newest);
    await insertDataKey(client, { number, masterKeyId: masterKey.id, wrapped });
    const resealed = await resealEverything(client, [newest, ...dataKeys]);
    await askForRenewal(client);
    return resealed;
  }).catch(refusedByDatabase);
}

/** One organisation whose part of the database does not answer is enough: everything is sealed anew, or nothing. */
function refusedByDatabase(error: unknown): never {
  throw outageOf(error) === undefined ? error : appError('resealing_refused', undefined, { cause: error });
}

/** Give a rotation up: the master key of `source`, which was to be replaced, is again the only one that opens the database. */
export async function cancelRotation(owner: Pool, source: MasterKeySource): Promise<void> {
  const configured = await source.load();
  requireOlder(await listDataKeys(owner), configured, source);
  await waitForTakeOver(owner, configured);
  await transaction(owner, async (client) => {
    const { masterKey, rows } = await lockedKeys(client, source);
    requireOlder(rows, masterKey, source);
    await refuseHolders(client, masterKey);
    await keepOnlyMasterKey(client, masterKey.id);
  });
}

/** What finishing would seal anew, and which processes would keep it from that. */
export async function planRotation(
  db: Queryable,
  masterKeyId: string,
): Promise<{ sealed: { name: string; rows: number }[]; otherHolders: string[] }> {
  const sealed = [];
  for (const { name, list } of SEALED_TABLES) sealed.push({ name, rows: (await list(db)).length });
  sealed.push({ name: CHAINS_NAME, rows: (await listWriters(db)).length });
  sealed.push({ name: RESTORES_NAME, rows: (await listSealedRestores(db)).length });
  sealed.push({ name: ARCHIVES_NAME, rows: (await listArchives(db)).length });
  return { sealed, otherHolders: await holdersOfOtherKeys(db, masterKeyId) };
}

async function resealEverything(client: Client, dataKeys: DataKeys): Promise<Resealed[]> {
  const resealed = [];
  for (const table of SEALED_TABLES) resealed.push(await resealTable(client, table, dataKeys));
  // Requests that write the access log wait from here to the end.
  resealed.push(await resealAccessLog(client, dataKeys));
  resealed.push(await resealRestores(client, dataKeys));
  resealed.push(await resealArchives(client, dataKeys));
  return resealed;
}

interface LockedKeys extends OpenedDataKeys {
  rows: WrappedDataKey[];
}

async function lockedKeys(client: Client, source: MasterKeySource): Promise<LockedKeys> {
  await lockDataKeys(client);
  const opened = await openDataKeys(client, source);
  if (opened === undefined) throw new Error('the database has no data key');
  return { ...opened, rows: await listDataKeys(client) };
}

/** Newest first: by when it could open the first data key. */
function masterKeyIds(rows: readonly WrappedDataKey[]): string[] {
  return rows.filter(({ number }) => number === 1).map(({ masterKeyId }) => masterKeyId);
}

function requireRotation(rows: readonly WrappedDataKey[]): void {
  const ids = masterKeyIds(rows);
  if (ids.length <= 1) throw appError('no_rotation', { id: ids.join() });
}

function requireNewer(rows: readonly WrappedDataKey[], masterKey: MasterKey): void {
  requireRotation(rows);
  const [newer = ''] = masterKeyIds(rows);
  if (newer !== masterKey.id) throw appError('old_key_configured', { old: masterKey.id, newer });
}

function requireOlder(rows: readonly WrappedDataKey[], { id }: MasterKey, { name }: MasterKeySource): void {
  requireRotation(rows);
  if (masterKeyIds(rows)[0] === id) throw appError('new_key_configured', { name, id });
}

/** Processes that have their key from a file take the new one over when they are asked. */
async function waitForTakeOver(owner: Pool, { id }: MasterKey): Promise<void> {
  await askForRenewal(owner);
  for (let waitedMs = 0; waitedMs < TAKE_OVER_MS; waitedMs += TAKE_OVER_STEP_MS) {
    if (!(await holdersOfOtherKeys(owner, id)).some(mayTakeOver)) return;
    await sleep(TAKE_OVER_STEP_MS);
  }
}

async function refuseHolders(client: Client, { id }: MasterKey): Promise<void> {
  const holders = await holdersOfOtherKeys(client, id);
  if (holders.length > 0) throw appError('held_by_processes', { id, holders });
}

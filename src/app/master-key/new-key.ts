/** Where a new master key comes from, and how the key file of the embedded database is replaced. */
import { randomBytes } from 'node:crypto';
import { link, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { readSecret } from '../../platform/command/read-secret.ts';
import { createMasterKey, type MasterKey } from '../../platform/crypto/master-key.ts';
import { syncFolder } from '../../platform/sync-folder.ts';
import { MASTER_KEY_SHAPE, parseMasterKey } from '../config/config.ts';
import { makeKeyOnce, readKeyFile } from '../config/master-key.ts';
import { appError } from '../errors.ts';

export interface NewKeyOptions {
  newKeyFile?: string;
  newKeyStdin?: boolean;
  writeNewKeyFile?: string;
}

export interface NewKey {
  key: MasterKey;
  /** Writes a key that was made here to its file. Rejects where the file is there already. */
  keep(): Promise<void>;
}

/** The new master key of an operator. Throws `no_new_key` unless exactly one place is named. */
export async function readNewKey(options: NewKeyOptions, stdin: Readable): Promise<NewKey> {
  const { newKeyFile, newKeyStdin, writeNewKeyFile } = options;
  if ([newKeyFile, newKeyStdin, writeNewKeyFile].filter((given) => given !== undefined).length !== 1)
    throw appError('no_new_key');
  if (writeNewKeyFile !== undefined) {
    const key = createMasterKey(randomBytes(32));
    return { key, keep: () => writeKey(resolve(writeNewKeyFile), key) };
  }
  if (newKeyFile !== undefined) return given(await readKeyFile('--new-key-file', newKeyFile));
  const bytes = parseMasterKey(await readSecret(stdin));
  if (bytes === undefined) throw appError('bad_new_key', { fault: MASTER_KEY_SHAPE });
  return given(bytes);
}

function given(bytes: Buffer): NewKey {
  return { key: createMasterKey(bytes), keep: async () => undefined };
}

async function writeKey(path: string, { bytes }: MasterKey): Promise<void> {
  await writeFile(path, `${bytes.toString('hex')}\n`, { mode: 0o600, flag: 'wx', flush: true }).catch(
    ({ code }: NodeJS.ErrnoException) => {
      throw appError('new_key_not_written', { path, code });
    },
  );
  await syncFolder(dirname(path));
}

/** The key that is to replace the one in the data folder. An interrupted rotation finds the one that it made. */
export async function nextKey(dataDir: string, path: string): Promise<NewKey> {
  const next = nextPath(path);
  await makeKeyOnce(dataDir, next);
  await syncFolder(dataDir);
  return given(await readKeyFile(next, next));
}

/** Puts the next key in place in one step; the old one stays beside it. Both open the database at that moment. */
export async function replaceKeyFile(dataDir: string, path: string): Promise<void> {
  const previous = previousPath(path);
  await keepOlderKey(path, previous);
  await rm(previous, { force: true });
  await link(path, previous);
  await rename(nextPath(path), path);
  await syncFolder(dataDir);
}

/** The key of an earlier rotation may be the only one that opens the backups from before it. */
async function keepOlderKey(path: string, previous: string): Promise<void> {
  // None before the first rotation, and where it was destroyed.
  const older = await idOf(previous).catch(() => undefined);
  // An interrupted rotation has put the current key there already.
  if (older !== undefined && older !== (await idOf(path))) await rename(previous, `${previous}-${older}`);
}

async function idOf(path: string): Promise<string> {
  return createMasterKey(await readKeyFile(path, path)).id;
}

/** Where the key file that was replaced is kept. */
export function previousPath(path: string): string {
  return `${path}.previous`;
}

function nextPath(path: string): string {
  return `${path}.next`;
}

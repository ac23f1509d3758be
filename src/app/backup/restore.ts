/**
 * Puts the embedded database back from a backup. Everything that can fail is done beside the database that is there, which
 * is then replaced in one step and kept. Contract: CMD-25, OPS-34, OPS-38.
 */
import { existsSync } from 'node:fs';
import { mkdir, readdir, realpath, rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  holdUnused,
  openEmbeddedPostgres,
  stopAbandoned,
  type UnusedFolder,
} from '../../../local-postgres/embedded-postgres.ts';
import { handToOwnerOf } from '../../../local-postgres/postgres-user.ts';
import { findMount, isPutBackPlanned, STAGE } from '../../../local-postgres/put-back.ts';
import type { ProgressLine } from '../../platform/command/progress-line.ts';
import type { MasterKeySource } from '../../platform/crypto/master-key.ts';
import { withPool } from '../../platform/db/database.ts';
import { migrate } from '../../platform/db/migrate.ts';
import { syncFolder } from '../../platform/sync-folder.ts';
import { appError } from '../errors.ts';
import { refuseWrongMasterKey } from '../master-key/first-data-key.ts';
import { openServiceKeys } from '../master-key/service-keys.ts';
import { megabytes } from './back-up.ts';
import { type Manifest, readBackup, readManifest, sizeOf } from './manifest.ts';
import { type Mark, markRestored } from './mark-restored.ts';

export interface RestoreOptions {
  dataDir: string;
  /** Absolute path of the backup. */
  from: string;
  masterKey: MasterKeySource;
  /** The key is to become that of the data folder. */
  keepKey: boolean;
  /** Replace the database that is there. */
  replace: boolean;
  dryRun: boolean;
  now: Date;
  progress: ProgressLine;
}

export interface Restored {
  takenAt: string;
  sizeBytes: number;
  /** Where the database went that was replaced; null where there was none. */
  before: string | null;
  /** Null for a dry run. */
  mark: Mark | null;
}

/**
 * Throws a DomainError, and has changed nothing then; or EmbeddedPostgresError when it has begun to replace the database
 * and could not finish, which the next start does.
 */
export async function restore(options: RestoreOptions): Promise<Restored> {
  const { dataDir, from } = options;
  const manifest = await readManifest(from);
  await refuseOtherKey(manifest, options.masterKey);
  const sizeBytes = sizeOf(manifest);
  const before = `before-restore-${options.now.toISOString().replaceAll(/[:.]/g, '-')}`;
  if (options.dryRun) return tryOut(options, manifest, before);
  const unused = await holdUnused(dataDir);
  if (unused === undefined) throw appError('database_in_use', { dataDir });
  try {
    const present = existsSync(join(unused.path, 'postgresql'));
    if (present && !options.replace) throw appError('database_present', { dataDir });
    await refuseMount(unused.path, options.keepKey);
    await refuseFullDisk(unused.path, sizeBytes);
    const mark = await putBack(options, { unused, manifest, before });
    return { takenAt: manifest.takenAt, sizeBytes, before: present ? join(unused.path, before) : null, mark };
  } finally {
    unused.release();
  }
}

/** Reads only, so that a backup can be checked while the service runs. */
async function tryOut(
  { dataDir, from, keepKey, progress }: RestoreOptions,
  manifest: Manifest,
  before: string,
): Promise<Restored> {
  const sizeBytes = sizeOf(manifest);
  const path = existsSync(dataDir) ? await realpath(dataDir) : undefined;
  if (path !== undefined) {
    await refuseMount(path, keepKey);
    await refuseFullDisk(path, sizeBytes);
  }
  progress.step(`Checking ${megabytes(sizeBytes)} …`);
  await readBackup(from, manifest, { onBytes: (bytes) => progress.show(`${megabytes(bytes)} checked`) });
  const present = path !== undefined && existsSync(join(path, 'postgresql'));
  return { takenAt: manifest.takenAt, sizeBytes, before: present ? join(path, before) : null, mark: null };
}

interface Replacement {
  unused: UnusedFolder;
  manifest: Manifest;
  before: string;
}

async function putBack(options: RestoreOptions, { unused, manifest, before }: Replacement): Promise<Mark> {
  const { progress } = options;
  await removeStages(unused.path);
  const name = `${STAGE}${options.now.getTime()}`;
  const stage = join(unused.path, name);
  await mkdir(stage, { mode: 0o711 });
  try {
    await handToOwnerOf(unused.path, stage);
    const size = megabytes(sizeOf(manifest));
    progress.step(`Copying and checking ${size} …`);
    await readBackup(options.from, manifest, {
      to: stage,
      onBytes: (bytes) => progress.show(`${megabytes(bytes)} of ${size} copied`),
    });
    await handToOwnerOf(unused.path, join(stage, 'postgresql.password'));
    progress.step('Starting a server on the copy, and bringing it to this version …');
    const mark = await prepare(stage, options.masterKey, new Date(manifest.takenAt));
    if (options.keepKey) await writeKey(unused.path, stage, options.masterKey);
    await syncFolder(stage);
    progress.step('Putting it in place …');
    await unused.putBack(name, before);
    return mark;
  } catch (error) {
    // From the plan on, the stage may hold the only whole database.
    if (!isPutBackPlanned(unused.path)) await removeStages(unused.path);
    throw error;
  }
}

async function refuseOtherKey({ masterKeyIds }: Manifest, masterKey: MasterKeySource): Promise<void> {
  const { id } = await masterKey.load();
  if (masterKeyIds.includes(id)) return;
  throw appError('key_of_another_backup', { name: masterKey.name, id, needed: masterKeyIds });
}

async function refuseMount(folder: string, withKey: boolean): Promise<void> {
  const mount = await findMount(folder, withKey);
  if (mount !== undefined) throw appError('mount_in_the_way', { mount, folder });
}

async function refuseFullDisk(folder: string, needed: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  if (bavail * bsize > needed) return;
  throw appError('no_space_for_restore', {
    needed: megabytes(needed),
    folder,
    free: megabytes(bavail * bsize),
  });
}

/** Of restores that were killed before they replaced anything; the server of such a copy may still run. */
async function removeStages(dataDir: string): Promise<void> {
  for (const name of await readdir(dataDir)) {
    if (!name.startsWith(STAGE)) continue;
    const stage = join(dataDir, name);
    if (await stopAbandoned(stage)) await rm(stage, { recursive: true, force: true, maxRetries: 20 });
  }
}

/** Start a server on the copy, bring it to this version, and mark it as put back. */
async function prepare(stage: string, masterKey: MasterKeySource, backupTakenAt: Date): Promise<Mark> {
  const { url, release } = await openEmbeddedPostgres({ dataDir: stage });
  try {
    await refuseWrongMasterKey(url, masterKey);
    await migrate(url);
    const keys = await openServiceKeys(url, masterKey);
    return await withPool({ url, max: 1, applicationName: 'interchange restore' }, (owner) =>
      markRestored(owner, keys, { backupTakenAt, dryRun: false }),
    ).finally(keys.close);
  } finally {
    await release();
  }
}

async function writeKey(dataDir: string, stage: string, masterKey: MasterKeySource): Promise<void> {
  const path = join(stage, 'master.key');
  const { bytes } = await masterKey.load();
  await writeFile(path, `${bytes.toString('hex')}\n`, { mode: 0o600, flush: true });
  await handToOwnerOf(dataDir, path);
}

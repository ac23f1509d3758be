/**
 * Puts the embedded database back from a backup. Everything that can fail is done beside the database that is there, which
 * is then replaced in one step and kept. Contract: CMD-25, OPS-34.
 */
import { existsSync } from 'node:fs';
import { constants, copyFile, mkdir, readdir, rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { handToOwnerOf } from '../../../local-postgres/data-folder.ts';
import {
  holdUnused,
  openEmbeddedPostgres,
  type UnusedFolder,
} from '../../../local-postgres/embedded-postgres.ts';
import { isPutBackPlanned, STAGE } from '../../../local-postgres/put-back.ts';
import { CommandError } from '../../platform/command/command.ts';
import type { MasterKeySource } from '../../platform/crypto/master-key.ts';
import { createPool } from '../../platform/db/database.ts';
import { migrate } from '../../platform/db/migrate.ts';
import { createLog } from '../../platform/log/log.ts';
import { refuseWrongMasterKey } from '../master-key/first-data-key.ts';
import { openServiceKeys } from '../master-key/service-keys.ts';
import { megabytes } from './back-up.ts';
import { checkBackup, checkFile, type Manifest, makeFolders, readManifest, syncFolder } from './manifest.ts';
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
  onProgress: (text: string) => void;
}

export interface Restored {
  takenAt: string;
  sizeBytes: number;
  /** Where the database went that was replaced; null where there was none. */
  before: string | null;
  /** Null for a dry run. */
  mark: Mark | null;
}

/** Throws CommandError, and has changed nothing then. */
export async function restore(options: RestoreOptions): Promise<Restored> {
  const { dataDir, from } = options;
  const manifest = await readManifest(from);
  await refuseOtherKey(manifest, options.masterKey);
  const sizeBytes = manifest.files.reduce((sum, file) => sum + file.sizeBytes, 0);
  if (options.dryRun && !existsSync(dataDir)) {
    await checkBackup(from, manifest, (bytes) => options.onProgress(`${megabytes(bytes)} checked`));
    return { takenAt: manifest.takenAt, sizeBytes, before: null, mark: null };
  }
  const unused = await holdUnused(dataDir);
  if (unused === undefined)
    throw new CommandError(
      `The database in ${dataDir} is in use. Nothing was changed. Stop the service and every command, then try again.`,
    );
  try {
    const present = existsSync(join(unused.path, 'postgresql'));
    if (present && !options.replace && !options.dryRun)
      throw new CommandError(
        `There is a database in ${dataDir} already. Nothing was changed. To replace it, add --replace: it is then kept beside the restored one.`,
      );
    const before = `before-restore-${options.now.toISOString().replaceAll(/[:.]/g, '-')}`;
    const kept = present ? join(unused.path, before) : null;
    await refuseFullDisk(unused.path, sizeBytes);
    if (options.dryRun) {
      await checkBackup(from, manifest, (bytes) => options.onProgress(`${megabytes(bytes)} checked`));
      return { takenAt: manifest.takenAt, sizeBytes, before: kept, mark: null };
    }
    const mark = await putBack(options, { unused, manifest, before });
    return { takenAt: manifest.takenAt, sizeBytes, before: kept, mark };
  } finally {
    unused.release();
  }
}

interface Replacement {
  unused: UnusedFolder;
  manifest: Manifest;
  before: string;
}

async function putBack(options: RestoreOptions, { unused, manifest, before }: Replacement): Promise<Mark> {
  await removeStages(unused.path);
  const name = `${STAGE}${options.now.getTime()}`;
  const mark = await stageBackup(options, {
    manifest,
    stage: join(unused.path, name),
    dataDir: unused.path,
  }).catch(async (error: unknown) => {
    await removeStages(unused.path);
    throw error;
  });
  try {
    await unused.putBack(name, before);
  } catch (error) {
    if (!isPutBackPlanned(unused.path)) await removeStages(unused.path);
    else throw notInPlace(unused.path, error as NodeJS.ErrnoException);
    throw error;
  }
  return mark;
}

/** Whoever opens the folder next finishes it, and needs the stage. */
function notInPlace(dataDir: string, error: NodeJS.ErrnoException): CommandError {
  return new CommandError(
    `The restored database is ready in ${dataDir}, but could not be put into its place (${error.code ?? error.name}). Nothing is lost. Mend that, then run any command: it goes on.`,
    { cause: error },
  );
}

async function stageBackup(
  options: RestoreOptions,
  { manifest, stage, dataDir }: { manifest: Manifest; stage: string; dataDir: string },
): Promise<Mark> {
  await mkdir(stage, { mode: 0o711 });
  await handToOwnerOf(dataDir, stage);
  await copyBackup(options, manifest, stage);
  await handToOwnerOf(dataDir, join(stage, 'postgresql.password'));
  options.onProgress('starting a server on the copy');
  const mark = await prepare(stage, options.masterKey, new Date(manifest.takenAt));
  if (options.keepKey) await writeKey(dataDir, stage, options.masterKey);
  await syncFolder(stage);
  return mark;
}

async function refuseOtherKey({ masterKeyIds }: Manifest, masterKey: MasterKeySource): Promise<void> {
  const { id } = await masterKey.load();
  if (masterKeyIds.includes(id)) return;
  throw new CommandError(
    `${masterKey.name} is key ${id}, but the backup needs master key ${masterKeyIds.join(' or ')}. Nothing was changed. Give that key with --key-file.`,
  );
}

async function refuseFullDisk(folder: string, needed: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  if (bavail * bsize > needed) return;
  throw new CommandError(
    `The restore needs ${megabytes(needed)}, but ${folder} has ${megabytes(bavail * bsize)} free. Nothing was changed. Free some space, then try again.`,
  );
}

/** Of restores that were killed before they replaced anything. */
async function removeStages(dataDir: string): Promise<void> {
  for (const name of await readdir(dataDir))
    if (name.startsWith(STAGE))
      await rm(join(dataDir, name), { recursive: true, force: true, maxRetries: 20 });
}

/** What is checked is the copy, so that a fault of either disk shows. */
async function copyBackup(options: RestoreOptions, manifest: Manifest, stage: string): Promise<void> {
  const { from } = options;
  await makeFolders(stage, manifest);
  let bytes = 0;
  for (const file of manifest.files) {
    const copy = join(stage, file.path);
    await copyFile(join(from, file.path), copy, constants.COPYFILE_FICLONE).catch(
      (error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT') throw error;
      },
    );
    await checkFile(copy, file, from);
    bytes += file.sizeBytes;
    options.onProgress(`${megabytes(bytes)} copied`);
  }
}

/** Start a server on the copy, bring it to this version, and mark it as put back. */
async function prepare(stage: string, masterKey: MasterKeySource, backupTakenAt: Date): Promise<Mark> {
  const { url, release } = await openEmbeddedPostgres({ dataDir: stage, log: createLog('silent') });
  try {
    await refuseWrongMasterKey(url, masterKey);
    await migrate(url);
    const keys = await openServiceKeys(url, masterKey);
    const owner = createPool({ url, max: 1, applicationName: 'interchange restore' }, () => undefined);
    try {
      return await markRestored(owner, keys, { backupTakenAt, dryRun: false });
    } finally {
      await Promise.all([owner.end(), keys.close()]);
    }
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

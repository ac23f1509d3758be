/** A backup of the embedded database, made while it works and proven by starting it. Contract: OPS-34. */
import { existsSync } from 'node:fs';
import { chmod, copyFile, lstat, mkdir, readdir, realpath, rename, rm, statfs } from 'node:fs/promises';
import { basename, dirname, join, sep } from 'node:path';
import { copyRunningCluster } from '../../../local-postgres/base-backup.ts';
import { openEmbeddedPostgres, stopAbandoned } from '../../../local-postgres/embedded-postgres.ts';
import { tryLock } from '../../../local-postgres/file-lock.ts';
import type { ProgressLine } from '../../platform/command/progress-line.ts';
import type { MasterKey, MasterKeySource } from '../../platform/crypto/master-key.ts';
import { oneRow, type Pool, withPool } from '../../platform/db/database.ts';
import type { DomainError } from '../../platform/domain-error.ts';
import { syncFolder } from '../../platform/sync-folder.ts';
import { appError } from '../errors.ts';
import { refuseWrongMasterKey } from '../master-key/first-data-key.ts';
import { readRotation } from '../master-key/rotate-master-key.ts';
import { type Manifest, writeManifest } from './manifest.ts';

export interface BackupOptions {
  dataDir: string;
  /** Absolute path of a folder that does not exist. */
  folder: string;
  masterKey: MasterKeySource;
  progress: ProgressLine;
}

export interface Backup {
  manifest: Manifest;
  /** It opens the backup. */
  masterKey: MasterKey;
}

/** Marks a folder that only a backup fills. */
const LOCK = 'backup.lock';
/** What a server that was started on the copy leaves beside the data. */
const LEFTOVERS = [
  'postgresql.gate',
  'postgresql.users',
  'postgresql/postmaster.opts',
  'postgresql/server.log',
  'postgresql/backup_label.old',
];
/** Enough to read a few rows. */
const SMALL = { shared_buffers: '16MB', max_connections: '10', autovacuum: 'off' };

/**
 * Back up the database of a data folder. The folder has its name only when it is complete; what a killed backup left is
 * removed by the next one to the same name. Throws a DomainError.
 */
export async function backUp(options: BackupOptions): Promise<Backup> {
  const { folder } = options;
  if (existsSync(folder)) throw appError('backup_exists', { folder });
  const draft = `${folder}.unfinished`;
  await refuseInside(options.dataDir, folder);
  const lock = await takeDraft(draft);
  try {
    const { takenAt, keyBefore } = await copyDatabase(options, draft);
    options.progress.step('Starting a server on the copy, and checking the master key …');
    const { masterKey, masterKeyIds } = await prove(draft, options.masterKey, keyBefore);
    for (const name of LEFTOVERS) await rm(join(draft, name), { force: true });
    options.progress.step('Writing the copy to the disk, with a digest of each file …');
    const manifest = await writeManifest(draft, { takenAt: takenAt.toISOString(), masterKeyIds }, (bytes) =>
      options.progress.show(`${megabytes(bytes)} written to the disk`),
    );
    await chmod(draft, 0o700);
    // The lock file stays until here, so that the draft of a killed backup always has it.
    lock.release();
    await rename(draft, folder);
    await rm(join(folder, LOCK), { force: true });
    await syncFolder(dirname(folder));
    return { manifest, masterKey };
  } catch (error) {
    lock.release();
    await rm(draft, { recursive: true, force: true });
    throw error;
  }
}

/** The copy would copy itself, or be in the way of a restore. */
async function refuseInside(dataDir: string, folder: string): Promise<void> {
  const above = await realpath(dirname(folder)).catch((error: NodeJS.ErrnoException) => {
    throw notWritable(folder, error);
  });
  for (const closed of [dataDir, join(dataDir, 'postgresql')])
    if (`${join(above, basename(folder))}${sep}`.startsWith(`${await realpath(closed)}${sep}`))
      throw appError('backup_in_data_folder', { folder, dataDir });
}

/** Others may pass through while a server runs on the copy, as in a data folder; what is in it is closed to them. */
async function takeDraft(draft: string): Promise<{ release(): void }> {
  await mkdir(draft, { mode: 0o711 }).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw notWritable(draft, error);
    await refuseForeign(draft);
  });
  const lock = tryLock(join(draft, LOCK), 'exclusive');
  if (lock === undefined) throw appError('backup_running', { draft });
  if (!(await stopAbandoned(draft))) throw appError('draft_in_use', { draft });
  for (const name of await readdir(draft))
    if (!name.startsWith(LOCK)) await rm(join(draft, name), { recursive: true, force: true });
  return lock;
}

/** Everything in the draft of a killed backup is removed, so it must be one. */
async function refuseForeign(draft: string): Promise<void> {
  const names = (await isOurs(draft, 'isDirectory')) ? await readdir(draft) : undefined;
  if (names?.length === 0 || (names?.every(isOfDraft) && (await isOurs(join(draft, LOCK), 'isFile')))) return;
  throw appError('draft_of_others', { draft });
}

function isOfDraft(name: string): boolean {
  return name === 'manifest.json' || [LOCK, 'postgresql'].some((start) => name.startsWith(start));
}

/** Not a link, and of the user who runs the command. */
async function isOurs(path: string, kind: 'isDirectory' | 'isFile'): Promise<boolean> {
  const found = await lstat(path).catch(() => undefined);
  return found?.[kind]() === true && [found.uid, undefined].includes(process.getuid?.());
}

function notWritable(folder: string, { code }: NodeJS.ErrnoException): DomainError {
  return appError('backup_not_writable', { folder: dirname(folder), code });
}

interface Copied {
  takenAt: Date;
  /** The master key of when the copying began. */
  keyBefore: MasterKey;
}

async function copyDatabase(options: BackupOptions, draft: string): Promise<Copied> {
  const { dataDir, progress } = options;
  progress.step('Opening the database …');
  const { url, clusterDir, release } = await openEmbeddedPostgres({ dataDir });
  try {
    const keyBefore = await options.masterKey.load();
    await refuseWrongMasterKey(url, { ...options.masterKey, load: async () => keyBefore });
    const about = megabytes(await withOwner(url, (owner) => refuseFullDisk(owner, draft)));
    progress.step(`Copying about ${about}, and the WAL …`);
    const takenAt = await copyRunningCluster({
      url,
      clusterDir,
      to: join(draft, 'postgresql'),
      onProgress: (bytes) => progress.show(`${megabytes(bytes)} of about ${about} copied`),
    });
    // Of the loopback server that the copy will be; whoever reads the backup reads the data in any case.
    const password = join(draft, 'postgresql.password');
    await copyFile(join(dataDir, 'postgresql.password'), password);
    await chmod(password, 0o600);
    return { takenAt, keyBefore };
  } finally {
    await release();
  }
}

/** Returns the bytes that are needed, about. */
async function refuseFullDisk(owner: Pool, draft: string): Promise<number> {
  const text = 'select sum(pg_database_size(oid))::bigint as bytes from pg_database';
  const { bytes: needed } = await oneRow<{ bytes: number }>(owner, { text });
  const { bavail, bsize } = await statfs(draft);
  if (bavail * bsize > needed) return needed;
  throw appError('no_space_for_backup', {
    needed: megabytes(needed),
    folder: dirname(draft),
    free: megabytes(bavail * bsize),
  });
}

export function megabytes(bytes: number): string {
  return `${Math.ceil(bytes / 1e6).toLocaleString('en')} MB`;
}

/**
 * A server starts on the copy, makes it consistent, and a master key opens it: the one of now, or, where a rotation replaced it
 * since the copy was made, the one before. Returns that key, and the ids of all that open it.
 */
async function prove(
  draft: string,
  source: MasterKeySource,
  keyBefore: MasterKey,
): Promise<{ masterKey: MasterKey; masterKeyIds: string[] }> {
  const { url, release } = await openEmbeddedPostgres({ dataDir: draft, settings: SMALL });
  try {
    const { masterKeyIds } = await withOwner(url, readRotation);
    const keyNow = await source.load();
    const masterKey = [keyNow, keyBefore].find(({ id }) => masterKeyIds.includes(id)) ?? keyNow;
    await refuseWrongMasterKey(url, { ...source, load: async () => masterKey });
    return { masterKey, masterKeyIds };
  } finally {
    await release();
  }
}

function withOwner<T>(url: string, work: (owner: Pool) => Promise<T>): Promise<T> {
  return withPool({ url, max: 1, applicationName: 'interchange backup' }, work);
}

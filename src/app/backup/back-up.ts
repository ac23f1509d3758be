/** A backup of the embedded database, made while it works and proven by starting it. Contract: OPS-34. */
import { existsSync } from 'node:fs';
import { chmod, copyFile, mkdir, readdir, rename, rm, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { copyRunningCluster } from '../../../local-postgres/base-backup.ts';
import { openEmbeddedPostgres } from '../../../local-postgres/embedded-postgres.ts';
import { tryLock } from '../../../local-postgres/file-lock.ts';
import { CommandError } from '../../platform/command/command.ts';
import type { MasterKeySource } from '../../platform/crypto/master-key.ts';
import { createPool, type Pool } from '../../platform/db/database.ts';
import { createLog } from '../../platform/log/log.ts';
import { refuseWrongMasterKey } from '../master-key/first-data-key.ts';
import { readRotation } from '../master-key/rotate-master-key.ts';
import { type Manifest, syncFolder, writeManifest } from './manifest.ts';

export interface BackupOptions {
  dataDir: string;
  /** Absolute path of a folder that does not exist. */
  folder: string;
  masterKey: MasterKeySource;
  /** Told in words what is done. */
  onProgress: (text: string) => void;
}

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
 * removed by the next one to the same name. Throws CommandError.
 */
export async function backUp(options: BackupOptions): Promise<Manifest> {
  const { folder } = options;
  if (existsSync(folder))
    throw new CommandError(`${folder} exists, and was not changed. Name a folder that does not exist yet.`);
  const draft = `${folder}.unfinished`;
  const lock = await takeDraft(draft);
  try {
    const takenAt = await copyDatabase(options, draft);
    options.onProgress('starting a server on the copy');
    const masterKeyIds = await prove(draft, options.masterKey);
    lock.release();
    for (const name of [...LEFTOVERS, LOCK]) await rm(join(draft, name), { force: true });
    const manifest = await writeManifest(draft, { takenAt: takenAt.toISOString(), masterKeyIds }, (bytes) =>
      options.onProgress(`${megabytes(bytes)} written to the disk`),
    );
    await chmod(draft, 0o700);
    await rename(draft, folder);
    await syncFolder(dirname(folder));
    return manifest;
  } catch (error) {
    lock.release();
    await rm(draft, { recursive: true, force: true });
    throw error;
  }
}

/** Others may pass through while a server runs on the copy, as in a data folder; what is in it is closed to them. */
async function takeDraft(draft: string): Promise<{ release(): void }> {
  await mkdir(draft, { mode: 0o711 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EEXIST') return;
    throw new CommandError(
      `The folder ${dirname(draft)} cannot be written to (${error.code}). Name another one with --to.`,
    );
  });
  const lock = tryLock(join(draft, LOCK), 'exclusive');
  if (lock === undefined)
    throw new CommandError(
      `Another backup writes to ${draft} at the moment. Wait for it, or name another folder.`,
    );
  for (const name of await readdir(draft))
    if (!name.startsWith(LOCK)) await rm(join(draft, name), { recursive: true, force: true });
  return lock;
}

async function copyDatabase(options: BackupOptions, draft: string): Promise<Date> {
  const { dataDir } = options;
  const log = createLog('silent');
  const { url, clusterDir, release } = await openEmbeddedPostgres({ dataDir, log });
  try {
    await refuseWrongMasterKey(url, options.masterKey);
    await withOwner(url, (owner) => refuseFullDisk(owner, draft));
    const takenAt = await copyRunningCluster({
      url,
      clusterDir,
      to: join(draft, 'postgresql'),
      onProgress: (files) => options.onProgress(`${files} files copied`),
    });
    // Of the loopback server that the copy will be; whoever reads the backup reads the data in any case.
    await copyFile(join(dataDir, 'postgresql.password'), join(draft, 'postgresql.password'));
    return takenAt;
  } finally {
    await release();
  }
}

async function refuseFullDisk(owner: Pool, draft: string): Promise<void> {
  const { rows } = await owner.query<{ bytes: number }>(
    'select sum(pg_database_size(oid))::bigint as bytes from pg_database',
  );
  const needed = rows[0]?.bytes ?? 0;
  const { bavail, bsize } = await statfs(draft);
  if (bavail * bsize > needed) return;
  throw new CommandError(
    `The backup needs ${megabytes(needed)}, but ${dirname(draft)} has ${megabytes(bavail * bsize)} free. Free some space, or name another disk with --to.`,
  );
}

export function megabytes(bytes: number): string {
  return `${Math.ceil(bytes / 1e6).toLocaleString('en')} MB`;
}

/** A server starts on the copy, makes it consistent, and the master key opens it. Returns the keys that do. */
async function prove(draft: string, masterKey: MasterKeySource): Promise<string[]> {
  const { url, release } = await openEmbeddedPostgres({
    dataDir: draft,
    log: createLog('silent'),
    settings: SMALL,
  });
  try {
    await refuseWrongMasterKey(url, masterKey);
    return (await withOwner(url, readRotation)).masterKeyIds;
  } finally {
    await release();
  }
}

async function withOwner<T>(url: string, work: (owner: Pool) => Promise<T>): Promise<T> {
  const owner = createPool({ url, max: 1, applicationName: 'interchange backup' }, () => undefined);
  try {
    return await work(owner);
  } finally {
    await owner.end();
  }
}

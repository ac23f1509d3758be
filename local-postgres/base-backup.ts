/**
 * Copies the files of a PostgreSQL while it works, as its manual asks of a backup program (section "Continuous Archiving",
 * low-level API): the copy holds a backup label and the WAL that makes it consistent. Contract: OPS-34.
 */
import { randomBytes } from 'node:crypto';
import { constants, copyFile, mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { oneRow } from '../src/platform/db/database.ts';
import { readDatabaseTime } from '../src/platform/db/database-time.ts';
import { EmbeddedPostgresError } from './postgres-binaries.ts';

/** Folders whose content belongs to the running server; they are empty in the copy. */
const EMPTIED = new Set([
  'pg_wal',
  'pg_replslot',
  'pg_dynshmem',
  'pg_notify',
  'pg_serial',
  'pg_snapshots',
  'pg_stat_tmp',
  'pg_subtrans',
]);
/** Files that belong to the running server, wherever they are. */
const LEFT_OUT =
  /^(postmaster\.(pid|opts)|server\.log.*|current_logfiles.*|backup_label.*|pg_internal\.init.*|pgsql_tmp.*)$/;
const CONTROL_FILE = join('global', 'pg_control');

export interface BaseBackup {
  /** Of the owner of the database, a superuser. */
  url: string;
  clusterDir: string;
  /** A folder that does not exist yet. */
  to: string;
  /** Told the number of bytes that were copied so far. */
  onProgress: (bytes: number) => void;
}

/** Copy the cluster. Resolves to the time, by the clock of the database, up to which the copy holds every commit. */
export async function copyRunningCluster({ url, clusterDir, to, onProgress }: BaseBackup): Promise<Date> {
  const client = new pg.Client({ connectionString: url, application_name: 'interchange backup' });
  client.on('error', () => undefined);
  await client.connect();
  try {
    await refuseTablespaces(clusterDir);
    // Keeps the WAL of the copy from being recycled; it ends with this session.
    const slot = `interchange_backup_${randomBytes(6).toString('hex')}`;
    await client.query('select pg_create_physical_replication_slot($1, true, true)', [slot]);
    await client.query(`select pg_backup_start('interchange backup', true)`);
    await copyTree(clusterDir, to, onProgress);
    // Last, as the manual asks: it must not be older than any other file.
    await copyFile(join(clusterDir, CONTROL_FILE), join(to, CONTROL_FILE));
    const takenAt = await readDatabaseTime(client);
    const stopped = await oneRow<{ label: string; lastSegment: string }>(client, {
      text: `select labelfile as label, pg_walfile_name(lsn) as "lastSegment" from pg_backup_stop(false)`,
    });
    await writeFile(join(to, 'backup_label'), stopped.label, { mode: 0o600 });
    await copyWal(clusterDir, to, stopped);
    return takenAt;
  } finally {
    await client.end();
  }
}

async function refuseTablespaces(clusterDir: string): Promise<void> {
  const [name] = await readdir(join(clusterDir, 'pg_tblspc'));
  if (name !== undefined)
    throw new EmbeddedPostgresError(
      `The database has tablespaces outside ${clusterDir}, which this command does not copy. Use pg_basebackup.`,
    );
}

/** Files come and go meanwhile; the WAL makes up for both. */
async function copyTree(from: string, to: string, onProgress: (bytes: number) => void): Promise<void> {
  let bytes = 0;
  const folders = [''];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    await mkdir(join(to, folder), { mode: 0o700 });
    if (EMPTIED.has(folder)) continue;
    for (const entry of await readdir(join(from, folder), { withFileTypes: true }).catch(ifGone([]))) {
      const path = join(folder, entry.name);
      if (LEFT_OUT.test(entry.name) || path === CONTROL_FILE) continue;
      // pg_wal may be a link to another disk.
      if (entry.isDirectory() || EMPTIED.has(path)) folders.push(path);
      else
        bytes += await copyFile(join(from, path), join(to, path), constants.COPYFILE_FICLONE).then(
          async () => (await stat(join(to, path))).size,
          ifGone(0),
        );
      onProgress(bytes);
    }
  }
}

async function copyWal(
  from: string,
  to: string,
  stopped: { label: string; lastSegment: string },
): Promise<void> {
  const first = /^START WAL LOCATION: \S+ \(file ([0-9A-F]{24})\)/m.exec(stopped.label)?.[1];
  if (first === undefined)
    throw new EmbeddedPostgresError('PostgreSQL wrote a backup label of another form.');
  for (const name of await readdir(join(from, 'pg_wal')))
    if (
      /^[0-9A-F]{24}$/.test(name) ? name >= first && name <= stopped.lastSegment : name.endsWith('.history')
    )
      await copyFile(join(from, 'pg_wal', name), join(to, 'pg_wal', name));
}

function ifGone<T>(instead: T): (error: NodeJS.ErrnoException) => T {
  return (error) => {
    if (error.code !== 'ENOENT') throw error;
    return instead;
  };
}

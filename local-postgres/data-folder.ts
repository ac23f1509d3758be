/** The service's data folder, as far as the embedded PostgreSQL needs it (DATA_DIR, default ./data). */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { access, chmod, constants, link, open, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { makeFolder } from '../src/platform/make-folder.ts';
import { waitForLock } from './file-lock.ts';
import { EmbeddedPostgresError } from './postgres-binaries.ts';
import { handToOwnerOf } from './postgres-user.ts';
import { finishPutBack, isPutBackPlanned } from './put-back.ts';

/** A few renames take less. */
const RESTORE_TIMEOUT_MS = 60_000;

export interface DataFolder {
  /** Absolute, without symbolic links. */
  path: string;
  /** Lock held while the server is started or stopped. */
  gate: string;
  /** Lock shared by everyone who uses the server. */
  users: string;
}

/** Make the folder and its lock files where they are missing. Finishes a restore that began to replace the database. */
export async function openDataFolder(dataDir: string): Promise<DataFolder> {
  const folder = await makeDataFolder(resolve(dataDir));
  if (isPutBackPlanned(folder.path)) await finishRestore(folder);
  return folder;
}

async function makeDataFolder(wanted: string): Promise<DataFolder> {
  try {
    // Others may pass through, so that an unprivileged server reaches its files; they cannot list or read them.
    if (await makeFolder(wanted)) await chmod(wanted, 0o711);
    const path = await realpath(wanted);
    if (SHELL_CHARACTERS.test(path)) throw Object.assign(new Error(SHELL_PATH), { code: SHELL_PATH });
    const folder = { path, gate: join(path, 'postgresql.gate'), users: join(path, 'postgresql.users') };
    await access(path, constants.R_OK | constants.W_OK | constants.X_OK);
    for (const file of [folder.gate, folder.users]) await makeLockFile(path, file);
    return folder;
  } catch (error) {
    throw new EmbeddedPostgresError(
      `The data folder ${wanted} cannot be used: ${reasonOf(error)} Set DATA_DIR to another folder.`,
      { cause: error },
    );
  }
}

/** A restore that was killed while it replaced the database, or one that does so at the moment. */
async function finishRestore({ path, gate }: DataFolder): Promise<void> {
  const lock = await waitForLock(gate, RESTORE_TIMEOUT_MS);
  if (lock === undefined)
    throw new EmbeddedPostgresError(
      `Another process is replacing the database in ${path} by a restored one and did not finish in time. Try again; if that fails, look for a process that hangs.`,
    );
  try {
    await finishPutBack(path);
  } finally {
    lock.release();
  }
}

function reasonOf(error: unknown): string {
  const { code } = error as { code?: unknown };
  return REASONS[String(code)] ?? `it cannot be created or written to (${String(code)}).`;
}

/** pg_ctl starts the server through a shell, with paths between double quotes. */
const SHELL_CHARACTERS = /["$`\r\n]/;
const SHELL_PATH = 'SHELL_PATH';
const NOT_WRITABLE = 'this user cannot write there. Run the command as the owner of the folder.';
const REASONS: Readonly<Record<string, string>> = {
  EACCES: NOT_WRITABLE,
  EPERM: NOT_WRITABLE,
  EROFS: 'its file system is read-only.',
  EEXIST: 'something that is not a folder has that name.',
  ENOTDIR: 'a part of the path is a file, not a folder.',
  ENOENT: 'the file system does not allow new folders there.',
  ENOSPC: 'the disk is full.',
  EDQUOT: 'the disk quota is exceeded.',
  [SHELL_PATH]:
    'its path has one of the characters " $ ` or a line break. PostgreSQL does not start in such a folder.',
};

/** The password of the embedded server's owner, generated once. On a full disk it is still read. */
export async function readOrMakePassword(dataDir: string): Promise<string> {
  const path = join(dataDir, 'postgresql.password');
  if (!existsSync(path)) await makeFileOnce(dataDir, path, randomBytes(24).toString('base64url'));
  return (await readFile(path, 'utf8')).trim();
}

/**
 * Make a file in the folder, for its owner only, unless it is there. Written beside and linked into place, so that a crash or
 * a second process never leaves half of it.
 */
export async function makeFileOnce(dataDir: string, path: string, content: string): Promise<void> {
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  try {
    await writeFile(draft, content, { mode: 0o600, flag: 'wx', flush: true });
    await handToOwnerOf(dataDir, draft);
    await link(draft, path).catch(unlessExists);
  } finally {
    await rm(draft, { force: true });
  }
}

async function makeLockFile(dataDir: string, path: string): Promise<void> {
  const file = await open(path, 'wx', 0o600).catch(unlessExists);
  if (file === undefined) return access(path, constants.R_OK | constants.W_OK);
  await file.close();
  await handToOwnerOf(dataDir, path);
}

function unlessExists(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'EEXIST') throw error;
}

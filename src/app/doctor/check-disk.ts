/** Checks the disks that the service writes to: their free space, where that can be told from here, and who else may write. */
import { stat, statfs } from 'node:fs/promises';
import { shellWord } from '../../platform/command/shell-word.ts';
import { oneRow, type Queryable } from '../../platform/db/database.ts';
import type { Config } from '../config/config.ts';
import { masterKeyPath } from '../config/master-key.ts';
import { type CheckResult, failed, notApplicable, ok, warning } from './finding.ts';

export interface DiskLimits {
  failedBelowBytes: number;
  /** A warning needs both: little in numbers, and little of the whole. */
  warnBelowBytes: number;
  warnBelowShare: number;
}

const DISK_LIMITS: DiskLimits = { failedBelowBytes: 1e9, warnBelowBytes: 20e9, warnBelowShare: 0.1 };

export async function checkDisk(
  owner: Queryable,
  config: Config,
  limits: DiskLimits = DISK_LIMITS,
): Promise<CheckResult> {
  const folder = config.database.kind === 'embedded' ? config.dataDir : await localFolder(owner);
  if (folder === undefined)
    return notApplicable('The database is not on this machine. Watch its disk there.');
  if (folder === UNTOLD)
    return notApplicable(
      'The user of DATABASE_URL may not ask where the database keeps its files. Watch their disk yourself, or grant pg_read_all_settings to that user.',
    );
  const space = await statfs(folder).catch(() => undefined);
  if (space === undefined)
    return notApplicable(`${folder} cannot be looked at from here. Watch its disk yourself.`);
  const free = space.bavail * space.bsize;
  const share = space.blocks === 0 ? 1 : space.bavail / space.blocks;
  const text = `${(free / 1e9).toFixed(1)} GB (${Math.floor(share * 100)}%) are free for ${folder}`;
  const remedy =
    'Free some space, or move the database to a larger disk. What may be removed: npx interchange retention run --dry-run';
  if (free < limits.failedBelowBytes) return failed(`${text}. A full disk stops every write.`, remedy);
  if (free < limits.warnBelowBytes && share < limits.warnBelowShare) return warning(`${text}.`, remedy);
  return ok(`${text}.`);
}

const WRITABLE_BY_ALL = 0o002;
const READABLE_BY_ALL = 0o004;

/** Whether other users of this machine could exchange the database and the key in DATA_DIR, or read the key. */
export async function checkDataFolder(config: Config): Promise<CheckResult> {
  const { database, dataDir } = config;
  if (database.kind === 'url' || process.platform === 'win32')
    return notApplicable('The service keeps nothing in a data folder here.');
  const folder = await stat(dataDir);
  // The sticky bit does not help: whoever can add a plan of a restore has the service exchange the database.
  if ((folder.mode & WRITABLE_BY_ALL) !== 0)
    return warning(
      `Every user of this machine can write to ${dataDir}, and exchange the database and the key in it.`,
      `Run: chmod o-w ${shellWord(dataDir)}`,
    );
  const path = masterKeyPath(config);
  const key = await stat(path).catch(() => undefined);
  if (key !== undefined && (key.mode & READABLE_BY_ALL) !== 0)
    return warning(`Every user of this machine can read ${path}.`, `Run: chmod 600 ${shellWord(path)}`);
  return ok(`Only its owner and group can write to ${dataDir}.`);
}

/** The server does not tell its data folder to this user. */
const UNTOLD = Symbol('untold');

/** The data folder of a server on this machine; undefined elsewhere. */
async function localFolder(owner: Queryable): Promise<string | typeof UNTOLD | undefined> {
  const { local } = await oneRow<{ local: boolean }>(owner, {
    text: `select inet_server_addr() is null or host(inet_server_addr()) in ('127.0.0.1', '::1') as local`,
  });
  if (!local) return undefined;
  try {
    const text = `select current_setting('data_directory') as folder`;
    return (await oneRow<{ folder: string }>(owner, { text })).folder;
  } catch (error) {
    if ((error as { code?: string }).code !== '42501') throw error;
    return UNTOLD;
  }
}

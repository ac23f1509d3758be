/** Checks the free space of the disks that the service writes to, where that can be told from here. */
import { statfs } from 'node:fs/promises';
import type { Queryable } from '../../platform/db/database.ts';
import type { Config } from '../config/config.ts';
import { type Found, failed, notApplicable, ok, warning } from './finding.ts';

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
): Promise<Found> {
  const folder = config.database.kind === 'embedded' ? config.dataDir : await localFolder(owner);
  const space = folder === undefined ? undefined : await statfs(folder).catch(() => undefined);
  if (space === undefined)
    return notApplicable('The disk of the database cannot be seen from here. Watch it on its own machine.');
  const free = space.bavail * space.bsize;
  const share = space.blocks === 0 ? 1 : space.bavail / space.blocks;
  const text = `${(free / 1e9).toFixed(1)} GB (${Math.floor(share * 100)}%) are free for ${folder}`;
  const remedy =
    'Free some space, or move the database to a larger disk. What may be removed: npx interchange retention run --dry-run';
  if (free < limits.failedBelowBytes) return failed(`${text}. A full disk stops every write.`, remedy);
  if (free < limits.warnBelowBytes && share < limits.warnBelowShare) return warning(`${text}.`, remedy);
  return ok(`${text}.`);
}

/** The data folder of a server on this machine; undefined elsewhere, or where this user may not ask. */
async function localFolder(owner: Queryable): Promise<string | undefined> {
  const { rows } = await owner
    .query<{ folder: string }>({
      text: `
        select current_setting('data_directory') as folder
        where inet_server_addr() is null
          or host(inet_server_addr()) in ('127.0.0.1', '::1')`,
    })
    .catch((error: { code?: string }) => {
      if (error.code !== '42501') throw error;
      return { rows: [] };
    });
  return rows[0]?.folder;
}

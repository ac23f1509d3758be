/**
 * Writes old months of the access log to files and takes them out of the database (docs/adr/0092).
 * Contract: LOG-19.
 */
import { ADVISORY_LOCKS } from '../../platform/db/advisory-locks.ts';
import type { Pool } from '../../platform/db/database.ts';
import { readDatabaseTime } from '../../platform/db/database-time.ts';
import { inLockTurns } from '../../platform/db/lock-turns.ts';
import { makeFolder } from '../../platform/make-folder.ts';
import type { HashedEntry } from '../access-log/access-log.store.ts';
import { makePartitions } from '../access-log/access-log-partition.store.ts';
import { privacyError } from '../errors.ts';
import {
  countMonth,
  countParts,
  findLooseRun,
  monthsBefore,
  readPartition,
  removeMonth,
} from './archive.store.ts';
import { checkFile, readArchiveManifest, writeArchiveManifest, writeEntries } from './archive-file.ts';
import {
  type ArchiveManifest,
  archiveName,
  BrokenArchive,
  type ChainKeys,
  collectRuns,
  isSealed,
  type ReadChainKeys,
  sealManifest,
} from './archive-manifest.ts';

export interface ArchiveRequest {
  /** `YYYY-MM`: months before it are archived. */
  before: string;
  folder: string;
  dryRun: boolean;
  /** The table of a month is taken out of the log, but not dropped. */
  keepDetached: boolean;
  onProgress: (month: string, entries: number) => void;
}

/** One month that was archived, or would be. */
export interface ArchivedMonth {
  month: string;
  entries: number;
  /** Absent in a dry run. */
  file?: string;
  sha256?: string;
}

/** The current month and the one before it always stay. */
const MONTHS_KEPT = 2;
/** A partition is looked at once more when entries came while it was written to its file. */
const TRIES = 5;

/** While somebody reads the log. */
const LOCK_TURNS = 60;

/** Oldest month first, each on its own: what was done stays done when a later one fails. */
export async function archiveAccessLog(
  owner: Pool,
  readKeys: ReadChainKeys,
  request: ArchiveRequest,
): Promise<ArchivedMonth[]> {
  await checkMonth(owner, request.before);
  return onlyOne(owner, async () => {
    const months = await monthsBefore(owner, request.before);
    const archived: ArchivedMonth[] = [];
    if (!request.dryRun) await makeFolder(request.folder, 0o700);
    for (const month of months)
      archived.push(
        request.dryRun
          ? { month, entries: await countMonth(owner, month) }
          : await archiveMonth(owner, readKeys, { ...request, month }),
      );
    return archived;
  }).catch((error: NodeJS.ErrnoException) => {
    if (error.path === undefined) throw error;
    const { path, code } = error;
    throw privacyError('archive_not_written', { path, code: String(code) }, { cause: error });
  });
}

async function checkMonth(owner: Pool, before: string): Promise<void> {
  if (!/^\d{4}-(0[1-9]|1[0-2])$/.test(before)) throw privacyError('bad_month', { field: 'before' });
  const now = await readDatabaseTime(owner);
  const latest = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - (MONTHS_KEPT - 1), 1))
    .toISOString()
    .slice(0, 7);
  if (before > latest) throw privacyError('month_too_late', { field: 'before', month: before, latest });
}

/** Two at once would write the same files. */
async function onlyOne<T>(owner: Pool, work: () => Promise<T>): Promise<T> {
  const client = await owner.connect();
  const lock = [ADVISORY_LOCKS.accessLogArchive];
  try {
    const { rows } = await client.query<{ mine: boolean }>('select pg_try_advisory_lock($1) as mine', lock);
    if (rows[0]?.mine !== true) throw privacyError('archive_busy');
    return await work();
  } finally {
    // The server notices a closed connection only later, and the next archive would meet the lock.
    await client.query('select pg_advisory_unlock($1)', lock).catch(() => undefined);
    // Closing the connection lets the lock go, whatever happened to it.
    client.release(true);
  }
}

interface MonthRequest extends ArchiveRequest {
  month: string;
}

async function archiveMonth(
  owner: Pool,
  readKeys: ReadChainKeys,
  request: MonthRequest,
): Promise<ArchivedMonth> {
  const { month, folder } = request;
  const part = (await countParts(owner, month)) + 1;
  // Entries of a month that has no partition move from the default one into their own.
  await makePartitions(owner, new Date(`${month}-01T00:00:00Z`), 1);
  await keepOtherFiles(owner, await readKeys(owner), { month, part, folder });
  for (let tries = 1; tries <= TRIES; tries += 1) {
    const manifest = await exportMonth(owner, await readKeys(owner), { ...request, part });
    if (await remove(owner, readKeys, { ...request, manifest }))
      return { month, entries: manifest.entries, file: manifest.file, sha256: manifest.sha256 };
  }
  throw privacyError('archive_differs', { month });
}

/** A file of an earlier run that was cut short is written anew; one that holds anything else is left alone. */
async function keepOtherFiles(
  owner: Pool,
  keys: ChainKeys,
  { month, part, folder }: Pick<MonthRequest, 'month' | 'folder'> & { part: number },
): Promise<void> {
  const found = await readArchiveManifest(folder, { month, part });
  if (found === undefined) return;
  const collector = collectRuns(keys);
  for await (const entry of readPartition(owner, month)) collector.add(entry);
  const { entries, runs } = collector;
  if (!isSealed(keys, { ...found, entries, runs }))
    throw privacyError('archive_of_another_log', { name: archiveName(found), folder });
}

/** The files of a month, on the disk and read back. */
async function exportMonth(
  owner: Pool,
  keys: ChainKeys,
  { month, part, folder, onProgress }: MonthRequest & { part: number },
): Promise<ArchiveManifest> {
  const collector = collectRuns(keys);
  const file = `${archiveName({ month, part })}.ndjson.gz`;
  async function* checked(): AsyncIterable<HashedEntry> {
    for await (const entry of readPartition(owner, month)) {
      collector.add(entry);
      onProgress(month, collector.entries);
      yield entry;
    }
  }
  try {
    const sha256 = await writeEntries(folder, file, checked());
    const { entries, runs } = collector;
    const manifest = sealManifest(keys, { month, part, file, sha256, entries, runs });
    const loose = await findLooseRun(owner, runs);
    if (loose !== undefined)
      throw new BrokenArchive(`chain ${loose.writerId} is broken at entry ${loose.sequence}`);
    await writeArchiveManifest(folder, manifest);
    await checkFile(keys, folder, { manifest });
    return manifest;
  } catch (error) {
    if (!(error instanceof BrokenArchive)) throw error;
    throw privacyError('archive_broken', { month, reason: error.message }, { cause: error });
  }
}

/** Waits, in short turns that let others pass, while somebody reads the log. */
async function remove(
  owner: Pool,
  readKeys: ReadChainKeys,
  { manifest, keepDetached }: MonthRequest & { manifest: ArchiveManifest },
): Promise<boolean> {
  const { month } = manifest;
  const giveUp = (cause: unknown) => privacyError('access_log_in_use', { month }, { cause });
  return inLockTurns({ turns: LOCK_TURNS, giveUp }, () =>
    removeMonth(owner, readKeys, { manifest, keepDetached }),
  );
}

/**
 * What verification knows of archived months: sealed manifests in the database, and the files where it is
 * given them.
 * Contract: LOG-19.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Queryable } from '../../platform/db/database.ts';
import type { HashedEntry } from '../access-log/access-log.store.ts';
import { placeOf } from '../access-log/hash-chain.ts';
import { listArchives } from './archive.store.ts';
import { checkFile, readArchiveManifest } from './archive-file.ts';
import {
  type ArchivedRun,
  type ArchiveManifest,
  archiveName,
  BrokenArchive,
  type ChainKeys,
  isSealed,
  type ReadChainKeys,
  readUnderKeys,
} from './archive-manifest.ts';

export interface Archives {
  manifests: ArchiveManifest[];
  /** Those whose seal is good; the runs of others are not believed. */
  good: ArchiveManifest[];
  /** The run of a chain that begins at a sequence number. */
  runAt(writerId: string, sequence: number): ArchivedRun | undefined;
}

export async function loadArchives(db: Queryable, readKeys: ReadChainKeys): Promise<Archives> {
  const { manifests, good } = await readUnderKeys(db, readKeys, async ([newest]) => {
    const all = await listArchives(db);
    return { manifests: all, good: all.filter((manifest) => isSealed([newest], manifest)) };
  });
  const runs = good.flatMap((manifest) => manifest.runs);
  const byPlace = new Map(runs.map((run) => [placeOf(run.writerId, run.firstSequence), run]));
  return { manifests, good, runAt: (writerId, sequence) => byPlace.get(placeOf(writerId, sequence)) };
}

/**
 * Read the files of archived months. Resolves to what is wrong, by the name of the archive. `onEntry` is told
 * each entry whose hash is good.
 */
export async function checkFiles(
  keys: ChainKeys,
  folder: string,
  { archives, onEntry }: { archives: Archives; onEntry: (entry: HashedEntry) => void },
): Promise<{ filesRead: number; faults: { archive: string; reason: string }[] }> {
  const faults: { archive: string; reason: string }[] = [];
  let filesRead = 0;
  for (const manifest of archives.good) {
    try {
      const beside = await readArchiveManifest(folder, manifest);
      if (beside === undefined) throw new BrokenArchive('its manifest is not in the folder');
      // That of the database is the one that joins the chain. A rotation of the master key renews its seal alone.
      if (!isDeepStrictEqual({ ...beside, seal: '' }, { ...manifest, seal: '' }))
        throw new BrokenArchive('the manifest differs from the one in the database');
      filesRead += 1;
      await checkFile(keys, folder, { manifest: beside, onEntry });
    } catch (error) {
      if (!(error instanceof BrokenArchive)) throw error;
      faults.push({ archive: archiveName(manifest), reason: error.message });
    }
  }
  return { filesRead, faults };
}

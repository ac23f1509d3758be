/**
 * What verification knows of archived months: sealed manifests in the database, and the files where it is
 * given them.
 * Contract: LOG-19.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Queryable } from '../../platform/db/database.ts';
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
  /** Manifests whose seal is not good; their runs are not believed. */
  broken: ArchiveManifest[];
  /** The run of a chain that begins at a sequence number. */
  runAt(writerId: string, sequence: number): ArchivedRun | undefined;
  /** Entries of a chain that are archived. */
  entriesOf(writerId: string): number;
}

export async function loadArchives(db: Queryable, readKeys: ReadChainKeys): Promise<Archives> {
  const { manifests, broken } = await readUnderKeys(db, readKeys, async ([newest]) => {
    const all = await listArchives(db);
    return { manifests: all, broken: all.filter((manifest) => !isSealed([newest], manifest)) };
  });
  const runs = new Map<string, ArchivedRun>();
  const entries = new Map<string, number>();
  for (const run of manifests.filter((manifest) => !broken.includes(manifest)).flatMap((it) => it.runs)) {
    runs.set(`${run.writerId}/${run.firstSequence}`, run);
    const length = run.lastSequence - run.firstSequence + 1;
    entries.set(run.writerId, (entries.get(run.writerId) ?? 0) + length);
  }
  return {
    manifests,
    broken,
    runAt: (writerId, sequence) => runs.get(`${writerId}/${sequence}`),
    entriesOf: (writerId) => entries.get(writerId) ?? 0,
  };
}

/**
 * Read the files of archived months. Resolves to what is wrong, by the name of the archive. `onEntry` is told
 * each entry whose hash is good.
 */
export async function checkFiles(
  keys: ChainKeys,
  folder: string,
  { archives, onEntry }: { archives: Archives; onEntry: Parameters<typeof checkFile>[2]['onEntry'] },
): Promise<{ filesRead: number; faults: { archive: string; reason: string }[] }> {
  const faults: { archive: string; reason: string }[] = [];
  let filesRead = 0;
  for (const manifest of archives.manifests.filter((it) => !archives.broken.includes(it))) {
    try {
      const beside = await readArchiveManifest(folder, manifest);
      if (beside === undefined) throw new BrokenArchive('its manifest is not in the folder');
      // That of the database is the one that joins the chain. A rotation of the master key renews its seal alone.
      if (!isDeepStrictEqual({ ...beside, seal: '' }, { ...manifest, seal: '' }))
        throw new BrokenArchive('the manifest differs from the one in the database');
      filesRead += 1;
      await checkFile(keys, folder, { manifest: beside, ...(onEntry === undefined ? {} : { onEntry }) });
    } catch (error) {
      if (!(error instanceof BrokenArchive)) throw error;
      faults.push({ archive: archiveName(manifest), reason: error.message });
    }
  }
  return { filesRead, faults };
}

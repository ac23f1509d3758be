/** What an archived month of the access log holds: runs of chains, under a seal (docs/adr/0092). */
import { timingSafeEqual } from 'node:crypto';
import type { Queryable } from '../../platform/db/database.ts';
import type { HashedEntry } from '../access-log/access-log.store.ts';
import { entryHash, sealOver } from '../access-log/hash-chain.ts';

/** Entries of one chain that follow one another. Hashes are hex. */
export interface ArchivedRun {
  writerId: string;
  firstSequence: number;
  lastSequence: number;
  /** Of the entry before the first; where the run joins the chain. */
  previousHash: string;
  lastHash: string;
}

export interface ArchiveManifest {
  /** `YYYY-MM`, in UTC. */
  month: string;
  /** 1, or more where entries of the month came after it was archived. */
  part: number;
  /** Name of the file beside the manifest: one entry a line as JSON, gzip. */
  file: string;
  /** Of the file as it is on disk, hex. */
  sha256: string;
  entries: number;
  runs: ArchivedRun[];
  /** HMAC-SHA256 over everything above, hex. */
  seal: string;
}

/** Thrown for an entry that is not the one that was written. */
export class BrokenArchive extends Error {
  override name = 'BrokenArchive';
}

/** `access-log-2026-01`, or `access-log-2026-01.2` for a second part. */
export function archiveName({ month, part }: Pick<ArchiveManifest, 'month' | 'part'>): string {
  return `access-log-${month}${part === 1 ? '' : `.${part}`}`;
}

/** Keys that chains may have, the newest first: it seals. */
export type ChainKeys = readonly [newest: Uint8Array, ...older: Uint8Array[]];

/** As the database has them by now. In a transaction the newest stays that until the end of it. */
export type ReadChainKeys = (db: Queryable) => Promise<ChainKeys>;

/**
 * A rotation of the master key renews the keys and every seal in the database at once: what is read under them is of
 * before it or of after it.
 */
export async function readUnderKeys<T>(
  db: Queryable,
  readKeys: ReadChainKeys,
  read: (keys: ChainKeys) => Promise<T>,
): Promise<T> {
  const keys = await readKeys(db);
  const found = await read(keys);
  return (await readKeys(db)).length === keys.length ? found : readUnderKeys(db, readKeys, read);
}

export function sealManifest([newest]: ChainKeys, manifest: Omit<ArchiveManifest, 'seal'>): ArchiveManifest {
  return { ...manifest, seal: sealOf(newest, manifest).toString('hex') };
}

export function isSealed(keys: ChainKeys, manifest: ArchiveManifest): boolean {
  const given = Buffer.from(String(manifest.seal), 'hex');
  return keys.some((key) => {
    const expected = sealOf(key, manifest);
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}

function sealOf(key: Uint8Array, manifest: Omit<ArchiveManifest, 'seal'>): Buffer {
  const { month, part, file, sha256, entries, runs } = manifest;
  const flat = runs.map((run) => [
    run.writerId,
    run.firstSequence,
    run.lastSequence,
    run.previousHash,
    run.lastHash,
  ]);
  return sealOver(key, ['archive', month, part, file, sha256, entries, flat]);
}

interface RunCollector {
  /** The next entry, in the order of writers and sequence numbers. Throws {@link BrokenArchive}. */
  add(entry: HashedEntry): void;
  readonly entries: number;
  readonly runs: ArchivedRun[];
}

/** Checks each entry by its hash, and puts those that follow one another into runs. */
export function collectRuns(keys: ChainKeys): RunCollector {
  const runs: ArchivedRun[] = [];
  let entries = 0;

  return {
    add(entry) {
      const { writerId, sequence } = entry;
      const previousHash = entry.previousHash.toString('hex');
      const hash = entry.hash.toString('hex');
      if (!keys.some((key) => entryHash(key, entry.previousHash, entry).equals(entry.hash)))
        throw new BrokenArchive(`entry ${sequence} of chain ${writerId} was changed`);
      entries += 1;
      const run = runs.at(-1);
      if (run?.writerId === writerId && run.lastSequence + 1 === sequence) {
        if (run.lastHash !== previousHash)
          throw new BrokenArchive(`entry ${sequence} of chain ${writerId} does not follow the one before it`);
        Object.assign(run, { lastSequence: sequence, lastHash: hash });
      } else
        runs.push({
          writerId,
          firstSequence: sequence,
          lastSequence: sequence,
          previousHash,
          lastHash: hash,
        });
    },
    get entries() {
      return entries;
    },
    runs,
  };
}

/** The files of an archived month: entries as NDJSON under gzip, and the manifest beside them. */
import { createHash, type Hash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { syncFolder } from '../../platform/sync-folder.ts';
import type { HashedEntry } from '../access-log/access-log.store.ts';
import {
  type ArchiveManifest,
  archiveName,
  BrokenArchive,
  type ChainKeys,
  collectRuns,
  isSealed,
} from './archive-manifest.ts';

/** A file is written under this name first, and gets its own once it is on the disk. */
const UNFINISHED = '.part';
/** Entries name patients: the files are for their owner alone. */
const MODE = 0o600;

/** Write the entries and wait until they are on the disk. Resolves to the SHA-256 of the file, hex. */
export async function writeEntries(
  folder: string,
  name: string,
  entries: AsyncIterable<HashedEntry>,
): Promise<string> {
  const path = join(folder, name);
  const digest = createHash('sha256');
  const file = createWriteStream(path + UNFINISHED, { mode: MODE, flush: true });
  await pipeline(Readable.from(toLines(entries)), createGzip(), hashing(digest), file);
  await putInPlace(folder, path);
  return digest.digest('hex');
}

export async function writeArchiveManifest(folder: string, manifest: ArchiveManifest): Promise<void> {
  const path = manifestPath(folder, manifest);
  await writeFile(path + UNFINISHED, `${JSON.stringify(manifest, null, 2)}\n`, { mode: MODE, flush: true });
  await putInPlace(folder, path);
}

/** Undefined where there is none; throws {@link BrokenArchive} for one that cannot be read. */
export async function readArchiveManifest(
  folder: string,
  archive: Pick<ArchiveManifest, 'month' | 'part'>,
): Promise<ArchiveManifest | undefined> {
  try {
    return JSON.parse(await readFile(manifestPath(folder, archive), 'utf8')) as ArchiveManifest;
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') return undefined;
    throw new BrokenArchive('its manifest cannot be read', { cause: error });
  }
}

/**
 * Read the file of a manifest whole: its digest, each entry, and the runs must be what the manifest says. Throws
 * {@link BrokenArchive} where they are not.
 */
export async function checkFile(
  keys: ChainKeys,
  folder: string,
  { manifest, onEntry }: { manifest: ArchiveManifest; onEntry?: (entry: HashedEntry) => void },
): Promise<void> {
  if (!isSealed(keys, manifest)) throw new BrokenArchive('the manifest was changed');
  const digest = createHash('sha256');
  const collector = collectRuns(keys);
  const file = createReadStream(join(folder, manifest.file));
  await pipeline(file, hashing(digest), createGunzip(), async (source: AsyncIterable<Buffer>) => {
    for await (const line of linesOf(source)) {
      const entry = fromLine(line);
      collector.add(entry);
      onEntry?.(entry);
    }
  }).catch((error: Error) => {
    throw error instanceof BrokenArchive
      ? error
      : new BrokenArchive('the file cannot be read', { cause: error });
  });
  if (digest.digest('hex') !== manifest.sha256) throw new BrokenArchive('the file was changed');
  const { entries, runs } = collector;
  if (!isSealed(keys, { ...manifest, entries, runs }))
    throw new BrokenArchive('the file has other entries than its manifest says');
}

function manifestPath(folder: string, archive: Pick<ArchiveManifest, 'month' | 'part'>): string {
  return join(folder, `${archiveName(archive)}.json`);
}

/** The name is on the disk, too, when this resolves. */
async function putInPlace(folder: string, path: string): Promise<void> {
  await rename(path + UNFINISHED, path);
  await syncFolder(folder);
}

function hashing(digest: Hash): Transform {
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      digest.update(chunk);
      done(null, chunk);
    },
  });
}

async function* toLines(entries: AsyncIterable<HashedEntry>): AsyncIterable<string> {
  for await (const entry of entries)
    yield `${JSON.stringify({
      ...entry,
      previousHash: entry.previousHash.toString('hex'),
      hash: entry.hash.toString('hex'),
    })}\n`;
}

function fromLine(line: string): HashedEntry {
  const entry = JSON.parse(line) as HashedEntry;
  return {
    ...entry,
    occurredAt: new Date(entry.occurredAt),
    previousHash: Buffer.from(String(entry.previousHash), 'hex'),
    hash: Buffer.from(String(entry.hash), 'hex'),
  };
}

async function* linesOf(source: AsyncIterable<Buffer>): AsyncIterable<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of source) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  if (rest !== '') yield rest;
}

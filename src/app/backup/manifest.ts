/** What a backup folder holds, with the digest of every file, so that a damaged backup is noticed before it is used. */
import { createHash, hash } from 'node:crypto';
import type { Stats } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, readdir, readFile, writeFile } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { syncFolder } from '../../platform/sync-folder.ts';
import { appError } from '../errors.ts';

const NAME = 'manifest.json';
/** A backup is made of the folder `postgresql`, with everything in it, and this file. */
const PASSWORD = 'postgresql.password';
/** That folder or a path in it: no `..`, no backslash, no empty part. */
const IN_CLUSTER = /^postgresql(\/(?!\.{1,2}(\/|$))[^/\\\0]+)*$/;
const PIECE_BYTES = 1 << 20;

export interface BackupFacts {
  /** Up to when the backup holds everything, ISO 8601. */
  takenAt: string;
  /** Ids of the master keys that open it: one, or two while one replaces the other. */
  masterKeyIds: string[];
}

export interface Manifest extends BackupFacts {
  format: 1;
  /** Paths in the backup folder, with forward slashes; a folder stands before what is in it. */
  folders: string[];
  files: { path: string; sizeBytes: number; sha256: string }[];
}

export function sizeOf({ files }: Manifest): number {
  return files.reduce((sum, file) => sum + file.sizeBytes, 0);
}

/** Told how many bytes are done. */
type OnBytes = (bytes: number) => void;

/** Write down what is in the folder; everything is on the disk when it resolves. */
export async function writeManifest(folder: string, facts: BackupFacts, onBytes: OnBytes): Promise<Manifest> {
  const manifest: Manifest = { format: 1, ...facts, folders: [], files: [] };
  const buffer = Buffer.allocUnsafe(PIECE_BYTES);
  let bytes = 0;
  const add = async (path: string) => {
    await using file = await open(join(folder, path), 'r');
    await file.sync();
    const digest = await digestOf({ file, buffer });
    manifest.files.push({ path, ...digest });
    bytes += digest.sizeBytes;
    onBytes(bytes);
  };
  await add(PASSWORD);
  const folders = ['postgresql'];
  for (let at = folders.shift(); at !== undefined; at = folders.shift()) {
    manifest.folders.push(at);
    for (const entry of await readdir(join(folder, at), { withFileTypes: true })) {
      const path = `${at}/${entry.name}`;
      if (!IN_CLUSTER.test(path)) throw appError('name_not_kept', { path });
      if (entry.isDirectory()) folders.push(path);
      else await add(path);
    }
    await syncFolder(join(folder, at));
  }
  await writeFile(join(folder, NAME), JSON.stringify({ digest: digestOfAll(manifest), manifest }), {
    mode: 0o600,
    flush: true,
  });
  await syncFolder(folder);
  return manifest;
}

/** Throws a DomainError where there is no backup, or one of another form. */
export async function readManifest(folder: string): Promise<Manifest> {
  const text = await readFile(join(folder, NAME), 'utf8').catch(({ code }: NodeJS.ErrnoException) => {
    throw appError('no_backup', { folder, code });
  });
  const { digest, manifest } = parse(text);
  if (manifest?.format !== 1) throw appError('unknown_manifest', { folder });
  if (digest !== digestOfAll(manifest)) throw appError('backup_damaged', { folder, path: NAME });
  refuseOtherPaths(folder, manifest);
  return manifest;
}

/** Whoever can write the backup can write its digest as well. A folder stands before what is in it, and nothing twice. */
function refuseOtherPaths(folder: string, { folders, files }: Manifest): void {
  const made = new Set(['.']);
  const taken = new Set<string>();
  const refuseUnless = (isGood: boolean, path: string) => {
    if (!isGood || taken.has(path) || !made.has(posix.dirname(path)))
      throw appError('bad_path_in_manifest', { folder, path });
    taken.add(path);
  };
  for (const path of folders) {
    refuseUnless(IN_CLUSTER.test(path), path);
    made.add(path);
  }
  for (const { path } of files) refuseUnless(path === PASSWORD || IN_CLUSTER.test(path), path);
}

/**
 * Read every file of a backup, and write what was read to the new folder `to` where one is given, for its owner only.
 * Throws `backup_damaged` at the first that is not as it was written.
 */
export async function readBackup(
  folder: string,
  manifest: Manifest,
  { to, onBytes }: { to?: string; onBytes: OnBytes },
): Promise<void> {
  for (const path of manifest.folders) {
    const found = await lstatOrNothing(join(folder, path));
    if (found?.isDirectory() !== true) throw appError('backup_damaged', { folder, path });
    if (to !== undefined) await mkdir(join(to, path), { mode: 0o700 });
  }
  const buffer = Buffer.allocUnsafe(PIECE_BYTES);
  let bytes = 0;
  for (const { path, sizeBytes, sha256 } of manifest.files) {
    const found = await lstatOrNothing(join(folder, path));
    if (found?.isFile() !== true || found.size !== sizeBytes)
      throw appError('backup_damaged', { folder, path });
    await using file = await open(join(folder, path), 'r');
    const reading = { file, buffer };
    const read = await (to === undefined ? digestOf(reading) : copyTo(join(to, path), reading));
    if (read.sha256 !== sha256) throw appError('backup_damaged', { folder, path });
    bytes += sizeBytes;
    onBytes(bytes);
  }
}

async function copyTo(path: string, reading: Reading): Promise<Digest> {
  await using copy = await open(path, 'wx', 0o600);
  const digest = await digestOf(reading, (piece) => copy.writeFile(piece));
  await copy.sync();
  return digest;
}

async function lstatOrNothing(path: string): Promise<Stats | undefined> {
  return lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    return undefined;
  });
}

interface Digest {
  sizeBytes: number;
  sha256: string;
}

interface Reading {
  file: FileHandle;
  /**
   * Pieces are read into it. All files share one: a stream makes its own for each, and a database has thousands of small
   * files, so that half of the time went into collecting garbage.
   */
  buffer: Buffer;
}

/** Reads a file in pieces. */
async function digestOf(
  { file, buffer }: Reading,
  onPiece?: (piece: Buffer) => Promise<void>,
): Promise<Digest> {
  const sha256 = createHash('sha256');
  let sizeBytes = 0;
  for (;;) {
    const { bytesRead } = await file.read(buffer, 0, buffer.length, null);
    if (bytesRead === 0) return { sizeBytes, sha256: sha256.digest('hex') };
    const piece = buffer.subarray(0, bytesRead);
    sha256.update(piece);
    sizeBytes += bytesRead;
    await onPiece?.(piece);
  }
}

function parse(text: string): { digest?: string; manifest?: Manifest } {
  try {
    return (JSON.parse(text) ?? {}) as { digest?: string; manifest?: Manifest };
  } catch {
    return {};
  }
}

function digestOfAll(manifest: Manifest): string {
  return hash('sha256', JSON.stringify(manifest));
}

/**
 * Which files the paths of a command line name: files as they are, folders with all that they hold, sorted.
 * Contract: IN-3, IN-31.
 */
import type { Dirent } from 'node:fs';
import { open, readdir, stat } from 'node:fs/promises';
import path from 'node:path';

export interface FoundFile {
  path: string;
  sizeBytes: number;
  /** True for what can be read only once. */
  isPipe: boolean;
}

export interface FoundFiles {
  files: FoundFile[];
  /** Paths that lead nowhere, or to folders with nothing to import, with why. */
  missing: { path: string; reason: string }[];
  /** Files in folders that are passed over because they are neither JSON nor gzip. */
  otherFiles: number;
}

/**
 * Names that are taken from a folder without a look inside. Archives are among them, because they may hold records. They are
 * rejected when they are read, with what to do.
 */
const TAKEN_NAME = /\.(?:json|ndjson|jsonl|gz|zip|tar|bz2|zst|xz|7z)$/i;
const GZIP = 0x1f;
const OPEN_BRACE = 0x7b;

/**
 * Paths keep the order they are given in; a folder's files are sorted by name, subfolders in their place among
 * them, so that `0-hospitals.json` comes before `patients/`. Hidden files are passed over, and so is `-`, which is
 * standard input.
 */
export async function findFiles(paths: readonly string[]): Promise<FoundFiles> {
  const found: FoundFiles = { files: [], missing: [], otherFiles: 0 };
  for (const given of paths) {
    if (given === '-') continue;
    try {
      const stats = await stat(given);
      if (stats.isDirectory()) await findInGivenFolder(given, found);
      else found.files.push({ path: given, sizeBytes: stats.size, isPipe: !stats.isFile() });
    } catch (error) {
      found.missing.push({ path: given, reason: missingReason(error) });
    }
  }
  return found;
}

async function findInGivenFolder(folder: string, found: FoundFiles): Promise<void> {
  const before = { files: found.files.length, missing: found.missing.length, otherFiles: found.otherFiles };
  await findInFolder(folder, found);
  if (found.files.length > before.files || found.missing.length > before.missing) return;
  const others = found.otherFiles - before.otherFiles;
  const reason =
    others === 0
      ? 'the folder has no file'
      : `the folder has no file that begins like JSON or gzip, only ${others} ${others === 1 ? 'other' : 'others'}`;
  found.missing.push({ path: folder, reason });
}

async function findInFolder(folder: string, found: FoundFiles): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true });
  entries.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  for (const entry of entries) {
    if (entry.name.startsWith('.')) continue;
    const name = path.join(folder, entry.name);
    try {
      if (entry.isDirectory()) await findInFolder(name, found);
      else await findFile(name, entry, found);
    } catch (error) {
      found.missing.push({ path: name, reason: missingReason(error) });
    }
  }
}

/** Links to files are followed; links to folders are not, so that no loop is walked. */
async function findFile(name: string, entry: Dirent, found: FoundFiles): Promise<void> {
  const stats = entry.isFile() || entry.isSymbolicLink() ? await stat(name) : undefined;
  if (stats?.isFile() !== true) return;
  if (TAKEN_NAME.test(name) || (await looksLikeFhir(name)))
    found.files.push({ path: name, sizeBytes: stats.size, isPipe: false });
  else found.otherFiles += 1;
}

async function looksLikeFhir(name: string): Promise<boolean> {
  const file = await open(name);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(512), 0, 512, 0);
    const head = buffer.subarray(0, bytesRead);
    const first = head.find((byte) => byte > 0x20 && byte < 0x80);
    return head[0] === GZIP || first === OPEN_BRACE;
  } finally {
    await file.close();
  }
}

function missingReason(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'there is no such file or folder';
  if (code === 'EACCES' || code === 'EPERM') return 'this user may not read the file or folder';
  return `the file or folder cannot be read (${code ?? 'unknown error'})`;
}

/** What a backup folder holds, with the digest of every file, so that a damaged backup is noticed before it is used. */
import { createHash, hash } from 'node:crypto';
import { mkdir, open, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CommandError } from '../../platform/command/command.ts';

const NAME = 'manifest.json';

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

/** Told how many bytes are done. */
type OnBytes = (bytes: number) => void;

/** Write down what is in the folder; everything is on the disk when it resolves. */
export async function writeManifest(folder: string, facts: BackupFacts, onBytes: OnBytes): Promise<Manifest> {
  const manifest: Manifest = { format: 1, ...facts, folders: [], files: [] };
  let bytes = 0;
  const folders = [''];
  for (let at = folders.shift(); at !== undefined; at = folders.shift()) {
    if (at !== '') manifest.folders.push(at);
    for (const entry of await readdir(join(folder, at), { withFileTypes: true })) {
      const path = at === '' ? entry.name : `${at}/${entry.name}`;
      if (entry.isDirectory()) folders.push(path);
      else {
        const file = await digestOf(join(folder, path));
        manifest.files.push({ path, ...file });
        bytes += file.sizeBytes;
        onBytes(bytes);
      }
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

/** Throws CommandError where there is no backup, or one of another form. */
export async function readManifest(folder: string): Promise<Manifest> {
  const text = await readFile(join(folder, NAME), 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new CommandError(
      `${folder} is not a complete backup: its ${NAME} cannot be read (${error.code}). Name a folder that interchange backup finished.`,
    );
  });
  const { digest, manifest } = parse(text);
  if (manifest?.format !== 1)
    throw new CommandError(
      `The ${NAME} of ${folder} is damaged, or a newer version of interchange wrote it. Nothing was changed. Use another backup, or that version.`,
    );
  if (digest !== digestOfAll(manifest)) throw damaged(folder, NAME);
  return manifest;
}

/** Read every file of a backup. Throws CommandError at the first that is not as it was written. */
export async function checkBackup(folder: string, manifest: Manifest, onBytes: OnBytes): Promise<void> {
  let bytes = 0;
  for (const file of manifest.files) {
    await checkFile(join(folder, file.path), file, folder);
    bytes += file.sizeBytes;
    onBytes(bytes);
  }
}

export async function makeFolders(at: string, { folders }: Manifest): Promise<void> {
  for (const folder of folders) await mkdir(join(at, folder), { mode: 0o700 });
}

/** Throws CommandError where the file at `path` is not as the backup in `folder` has it. */
export async function checkFile(
  path: string,
  file: Manifest['files'][number],
  folder: string,
): Promise<void> {
  const found = await digestOf(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
  if (found?.sha256 !== file.sha256) throw damaged(folder, file.path);
}

/** Reads a file in pieces, and has it on the disk. */
async function digestOf(path: string): Promise<{ sizeBytes: number; sha256: string }> {
  const file = await open(path, 'r');
  try {
    await file.sync();
    const sha256 = createHash('sha256');
    let sizeBytes = 0;
    for await (const chunk of file.createReadStream({ autoClose: false, highWaterMark: 1 << 20 })) {
      sha256.update(chunk as Buffer);
      sizeBytes += (chunk as Buffer).length;
    }
    return { sizeBytes, sha256: sha256.digest('hex') };
  } finally {
    await file.close();
  }
}

/** The names in a folder are on the disk, too. Windows has no such thing. */
export async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
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

function damaged(folder: string, path: string): CommandError {
  return new CommandError(
    `The backup in ${folder} is damaged: ${path} is missing or was changed. Nothing was changed. Use another backup.`,
  );
}

/**
 * A whole source that can be read at any offset: entries are taken in the order that foreign keys need, not
 * in the order they stand in. A small source is in memory, a large one in a file.
 * Contract: IN-4.
 */
import { type FileHandle, mkdtemp, open, rm, rmdir, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { ByteBudget, SourceLimits } from './limits.ts';
import { sizeText } from './limits.ts';
import { NoSpaceError, SourceError } from './source-error.ts';

/** Bytes that are read from a file at once: neighbours are usually asked for next. */
const WINDOW_BYTES = 1_048_576;

export interface Spool {
  readonly sizeBytes: number;
  readonly inMemory: boolean;
  /** The bytes `[start, end)`; valid until the next read. */
  read(start: number, end: number): Promise<Buffer>;
  close(): Promise<void>;
}

export function memorySpool(bytes: Buffer, onClose?: () => void): Spool {
  return {
    sizeBytes: bytes.length,
    inMemory: true,
    read: async (start, end) => bytes.subarray(start, end),
    close: async () => onClose?.(),
  };
}

/** Takes ownership of `file`; `onClose` runs after it is closed. */
export function fileSpool(file: FileHandle, sizeBytes: number, onClose?: () => Promise<void>): Spool {
  let window: Buffer = Buffer.alloc(0);
  let windowStart = 0;
  return {
    sizeBytes,
    inMemory: false,
    async read(start, end) {
      if (start < windowStart || end > windowStart + window.length) {
        window = await readFully(
          file,
          start,
          Math.min(Math.max(end - start, WINDOW_BYTES), sizeBytes - start),
        );
        windowStart = start;
      }
      return window.subarray(start - windowStart, end - windowStart);
    },
    async close() {
      await file.close().finally(onClose);
    },
  };
}

/**
 * Read all of `chunks`: into memory up to `maxMemoryBytes`, from there on into a temporary file. Throws
 * SourceError, and leaves no file behind.
 */
export async function spoolChunks(chunks: AsyncIterable<Buffer>, limits: SourceLimits): Promise<Spool> {
  const { memory } = limits;
  let held: Buffer[] = [];
  let heldBytes = 0;
  let sizeBytes = 0;
  let file: TemporaryFile | undefined;
  const giveMemoryBack = (): void => {
    memory?.giveBack(heldBytes);
    heldBytes = 0;
  };
  try {
    for await (const chunk of chunks) {
      sizeBytes += chunk.length;
      requireSize(sizeBytes, limits);
      held.push(chunk);
      if (file === undefined && sizeBytes <= limits.maxMemoryBytes && memory?.take(chunk.length) !== false) {
        heldBytes += chunk.length;
        continue;
      }
      file ??= await openTemporaryFile(limits.disk);
      await file.append(held);
      held = [];
      giveMemoryBack();
    }
  } catch (error) {
    giveMemoryBack();
    await file?.remove();
    throw isFull(error) ? new NoSpaceError({ cause: error }) : error;
  }
  return file === undefined
    ? memorySpool(Buffer.concat(held), giveMemoryBack)
    : fileSpool(file.handle, sizeBytes, file.afterClose);
}

/** Throws SourceError for a source that is too large. */
export function requireSize(sizeBytes: number, { maxSourceBytes }: SourceLimits): void {
  if (sizeBytes > maxSourceBytes)
    throw new SourceError(`has more than ${sizeText(maxSourceBytes)} of content, which is the limit`);
}

function isFull(error: unknown): boolean {
  return ['ENOSPC', 'EDQUOT', 'EFBIG'].includes(String((error as NodeJS.ErrnoException).code));
}

interface TemporaryFile {
  handle: FileHandle;
  append(buffers: readonly Buffer[]): Promise<void>;
  /** Close and remove. */
  remove(): Promise<void>;
  /** Give the room back; remove the name, where it could not be removed while the file was open. */
  afterClose(): Promise<void>;
}

/**
 * A file that only this user can read. Its name is removed at once where the system allows that, so that
 * records do not stay on the disk after a crash.
 */
async function openTemporaryFile(disk: ByteBudget | undefined): Promise<TemporaryFile> {
  const folder = await mkdtemp(path.join(tmpdir(), 'interchange-import-'));
  const name = path.join(folder, 'source');
  const removeFolder = () => rm(folder, { recursive: true, force: true });
  const handle = await open(name, 'wx+', 0o600).catch(async (error: Error) => {
    await removeFolder();
    throw error;
  });
  await unlink(name)
    .then(() => rmdir(folder))
    .catch(() => undefined);
  let takenBytes = 0;
  const afterClose = async (): Promise<void> => {
    disk?.giveBack(takenBytes);
    takenBytes = 0;
    await removeFolder();
  };
  return {
    handle,
    afterClose,
    async append(buffers) {
      const bytes = buffers.reduce((total, { length }) => total + length, 0);
      if (disk?.take(bytes) === false) throw new NoSpaceError();
      takenBytes += bytes;
      // A disk that fills up takes a part first.
      if ((await handle.writev([...buffers])).bytesWritten < bytes) throw new NoSpaceError();
    },
    async remove() {
      await handle.close().finally(afterClose);
    },
  };
}

async function readFully(file: FileHandle, start: number, length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(length);
  for (let done = 0; done < length; ) {
    const { bytesRead } = await file.read(bytes, done, length - done, start + done);
    if (bytesRead === 0) throw new SourceError('became shorter while it was read');
    done += bytesRead;
  }
  return bytes;
}

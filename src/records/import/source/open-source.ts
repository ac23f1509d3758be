/**
 * Opens a file or a stream, plain or gzip: told apart by the first two bytes, not by the name (RFC 1952).
 * Contract: IN-3.
 */
import { constants, openSync } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { Socket } from 'node:net';
import { PassThrough, pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { SourceLimits } from './limits.ts';
import { NOTHING_TAKEN, SourceError } from './source-error.ts';
import { fileSpool, requireSize, type Spool, spoolChunks } from './spool.ts';

/** Throws SourceError when the file cannot be opened, is broken gzip, or is larger than the limits allow. */
export async function openFile(path: string, limits: SourceLimits): Promise<Spool> {
  if (await isNamedPipe(path)) return openStream(openPipe(path), limits);
  const file = await openForReading(path);
  try {
    const stats = await file.stat();
    // A device has no offsets: it is read through, once.
    if (!stats.isFile()) return await openStream(file.createReadStream(), limits);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(2), 0, 2, 0);
    if (!isGzip(buffer.subarray(0, bytesRead))) {
      requireSize(stats.size, limits);
      return fileSpool(file, stats.size);
    }
    const spool = await spoolChunks(
      gunzip(file.createReadStream({ start: 0, autoClose: false }), limits),
      limits,
    );
    await file.close();
    return spool;
  } catch (error) {
    await file.close().catch(() => undefined);
    throw error;
  }
}

/** Reads the stream to its end, or to the first failure. */
export async function openStream(
  stream: AsyncIterable<Buffer | string>,
  limits: SourceLimits,
): Promise<Spool> {
  const chunks = stream[Symbol.asyncIterator]();
  const head: Buffer[] = [];
  let headBytes = 0;
  while (headBytes < 2) {
    const next = await chunks.next();
    if (next.done === true) break;
    const chunk = Buffer.from(next.value);
    head.push(chunk);
    headBytes += chunk.length;
  }
  const whole = rejoin(Buffer.concat(head), chunks);
  return spoolChunks(isGzip(Buffer.concat(head)) ? gunzip(whole, limits) : whole, limits);
}

function isGzip(head: Uint8Array): boolean {
  return head[0] === 0x1f && head[1] === 0x8b;
}

async function isNamedPipe(path: string): Promise<boolean> {
  return stat(path).then(
    (stats) => stats.isFIFO(),
    () => false,
  );
}

/**
 * A pipe that nobody writes to keeps whoever opens or reads it waiting. As a file it would keep a thread of Node.js, without
 * which the process cannot end.
 */
function openPipe(path: string): Readable {
  try {
    const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    return new Socket({ fd, readable: true, writable: false });
  } catch (error) {
    throw notOpened(error);
  }
}

async function openForReading(path: string): Promise<FileHandle> {
  try {
    return await open(path, constants.O_RDONLY);
  } catch (error) {
    throw notOpened(error);
  }
}

function notOpened(cause: unknown): SourceError {
  const { code = 'unknown error' } = cause as NodeJS.ErrnoException;
  return new SourceError(`cannot be opened (${code})`, { cause });
}

async function* gunzip(
  compressed: AsyncIterable<Buffer> | Readable,
  { maxRatio, ratioFromBytes }: SourceLimits,
): AsyncGenerator<Buffer> {
  const output = new PassThrough({ highWaterMark: 1_048_576 });
  let sentBytes = 0;
  let unpackedBytes = 0;
  const counted = counting(compressed, (bytes) => {
    sentBytes += bytes;
  });
  // The callback form: a failure reaches whoever reads `output`, and nothing is thrown beside it.
  pipeline(counted, createGunzip({ chunkSize: 262_144 }), output, () => undefined);
  try {
    for await (const chunk of output as AsyncIterable<Buffer>) {
      unpackedBytes += chunk.length;
      if (unpackedBytes > ratioFromBytes && unpackedBytes > maxRatio * sentBytes)
        throw new SourceError(`unpacks to more than the limit of ${maxRatio} times its size`);
      yield chunk;
    }
  } catch (error) {
    throw brokenGzip(error) ?? error;
  } finally {
    output.destroy();
  }
}

async function* counting(
  chunks: AsyncIterable<Buffer>,
  count: (bytes: number) => void,
): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    count(chunk.length);
    yield chunk;
  }
}

/** Undefined for an error that is not of zlib. */
function brokenGzip(cause: unknown): SourceError | undefined {
  const { code } = cause as NodeJS.ErrnoException;
  if (code === 'Z_BUF_ERROR')
    return new SourceError(`is gzip that breaks off. ${NOTHING_TAKEN}. Copy or download it again`, { cause });
  if (String(code).startsWith('Z_'))
    return new SourceError('is broken gzip. Copy or download it again', { cause });
  return undefined;
}

async function* rejoin(head: Buffer, rest: AsyncIterator<Buffer | string>): AsyncGenerator<Buffer> {
  try {
    if (head.length > 0) yield head;
    for (let next = await rest.next(); next.done !== true; next = await rest.next())
      yield Buffer.from(next.value);
  } finally {
    await rest.return?.();
  }
}

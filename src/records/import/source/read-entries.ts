/** Walks the entries of a source in the order they stand in, one at a time. */
import { isUtf8 } from 'node:buffer';
import { hasMoreValues, isClosed, isDeeper } from '../../../platform/json-depth.ts';
import { createPauses } from '../../../platform/pauses.ts';
import { BundleScanner } from './bundle-scanner.ts';
import type { SourceLimits } from './limits.ts';
import { MAX_JSON_LEVELS, MAX_JSON_VALUES, sizeText } from './limits.ts';
import { FORMAT_BYTES, isBinary, NEITHER_JSON_NOR_GZIP, otherFormat } from './other-formats.ts';
import { SourceError } from './source-error.ts';
import type { Spool } from './spool.ts';

const CHUNK_BYTES = 262_144;
const NEWLINE = 0x0a;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const SPACE = 0x20;

/** Bytes `[start, end)` of entry or line `number`, counted from 1. */
export interface EntryRange {
  number: number;
  start: number;
  end: number;
}

/** Where the JSON begins, and whether it is one document or one on each line (NDJSON). */
export interface Layout {
  kind: 'document' | 'lines';
  start: number;
}

/**
 * Told by content: it is NDJSON when a second line begins with `{` although the first does not end in a way
 * (`[`, `,`, `:`) that lets an object follow, or when anything follows a first line that is a document by itself.
 * Within one JSON document neither can be. Throws SourceError for a source of another format.
 */
export async function detectLayout(spool: Spool): Promise<Layout> {
  const head = Buffer.from(await spool.read(0, Math.min(FORMAT_BYTES, spool.sizeBytes)));
  const other = otherFormat(head);
  if (other !== undefined) throw new SourceError(other);
  const start = byteOrderMark(head);
  const kind = await findKind(spool, start);
  // Of lines, each that is none is rejected by itself.
  if (kind === 'document' && isBinary(head.subarray(start))) throw new SourceError(NEITHER_JSON_NOR_GZIP);
  return { kind, start };
}

async function findKind(spool: Spool, start: number): Promise<Layout['kind']> {
  const pause = createPauses();
  const seen: FirstLine = { last: 0, ended: false, sizeBytes: 0 };
  for (let from = start; from < spool.sizeBytes; from += CHUNK_BYTES) {
    const second = startOfSecondLine(
      await spool.read(from, Math.min(from + CHUNK_BYTES, spool.sizeBytes)),
      seen,
    );
    await pause();
    if (second === undefined) continue;
    const another = second === OPEN_BRACE ? !opensValue(seen.last) : await isDocument(spool, start, seen);
    return another ? 'lines' : 'document';
  }
  return 'document';
}

/** A longer first line, in bytes, is not parsed: it does not count as a document by itself. */
const LINE_BYTES = 16_777_216;

async function isDocument(spool: Spool, start: number, { last, sizeBytes }: FirstLine): Promise<boolean> {
  if (last !== CLOSE_BRACE || sizeBytes > LINE_BYTES) return false;
  const line = (await spool.read(start, start + sizeBytes)).toString('utf8');
  if (isDeeper(line, MAX_JSON_LEVELS)) return false;
  if (hasMoreValues(line, MAX_JSON_VALUES)) return isClosed(line);
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}

interface FirstLine {
  /** Last byte that is no space; 0 before the first. */
  last: number;
  ended: boolean;
  /** From where the JSON begins to the end of the line. */
  sizeBytes: number;
}

/** First byte of the second line that is not blank; undefined when it is not in this chunk. */
function startOfSecondLine(chunk: Buffer, seen: FirstLine): number | undefined {
  let at = 0;
  while (!seen.ended && at < chunk.length) {
    const newline = chunk.indexOf(NEWLINE, at);
    const end = newline === -1 ? chunk.length : newline;
    seen.last = lastVisible(chunk, at, end) ?? seen.last;
    seen.ended = newline !== -1 && seen.last !== 0;
    const next = newline === -1 ? chunk.length : newline + 1;
    // The line break that ends it is none of it.
    seen.sizeBytes += (seen.ended ? end : next) - at;
    at = next;
  }
  return seen.ended ? chunk.subarray(at).find((byte) => byte > SPACE) : undefined;
}

function lastVisible(chunk: Buffer, from: number, to: number): number | undefined {
  for (let index = to - 1; index >= from; index -= 1) {
    const byte = chunk[index];
    if (byte !== undefined && byte > SPACE) return byte;
  }
  return undefined;
}

/**
 * Call `take` with each element of the document's `entry`; returns the document without them, as text. Throws
 * SourceError when there are too many.
 */
export async function readDocument(
  spool: Spool,
  range: { start: number; end: number },
  limits: SourceLimits,
  take: (range: EntryRange, bytes: Buffer) => void | Promise<void>,
): Promise<string> {
  const scanner = new BundleScanner(limits.maxEntryBytes);
  const pause = createPauses();
  let number = 0;
  for (let from = range.start; from < range.end; from += CHUNK_BYTES) {
    const chunk = await spool.read(from, Math.min(from + CHUNK_BYTES, range.end));
    for (const found of scanner.push(chunk)) {
      number += 1;
      if (number > limits.maxEntries)
        throw new SourceError(`has more than the limit of ${limits.maxEntries} entries. Split it.`);
      const start = range.start + found.start;
      const end = range.start + found.end;
      await take({ number, start, end }, await spool.read(start, end));
      await pause();
    }
    await pause();
  }
  return decodeUtf8(scanner.finish());
}

/** Where a line begins, and how many were before it. */
export interface LinePosition {
  start: number;
  before: number;
}

/**
 * Call `take` with each line that is not blank, `linesAtOnce` lines at most and none past `maxLines`, until it says
 * `stop`; returns where the next one begins, undefined at the end. A line that is too long is given without its
 * bytes. Where files were put together, a line may begin with a byte order mark. It is passed over.
 */
export async function readLines(
  spool: Spool,
  from: LinePosition,
  limits: SourceLimits,
  take: (range: EntryRange, bytes: Buffer | undefined) => 'stop' | undefined,
): Promise<LinePosition | undefined> {
  const pause = createPauses();
  const last = Math.min(from.before + limits.linesAtOnce, limits.maxLines);
  let number = from.before;
  let { start } = from;
  while (start < spool.sizeBytes) {
    for (const { end, bytes } of await linesAt(spool, start, limits)) {
      if (number === last) return { start, before: number };
      number += 1;
      const mark = bytes === undefined ? 0 : byteOrderMark(bytes);
      const line = bytes?.subarray(mark);
      const isEmpty = line !== undefined && isBlank(line);
      const stops = isEmpty ? undefined : take({ number, start: start + mark, end }, line);
      if (stops === 'stop') return undefined;
      start = end + 1;
      await pause();
    }
  }
  return undefined;
}

interface FoundLine {
  end: number;
  /** Undefined when it is too long. */
  bytes: Buffer | undefined;
}

/** The whole lines of the chunk that begins at `start`, one at least. */
async function linesAt(spool: Spool, start: number, limits: SourceLimits): Promise<Iterable<FoundLine>> {
  const chunk = await spool.read(start, Math.min(start + CHUNK_BYTES, spool.sizeBytes));
  const isLast = start + chunk.length === spool.sizeBytes;
  if (isLast || chunk.includes(NEWLINE)) return wholeLines(chunk, start, limits, isLast);
  const end = await lineEnd(spool, start);
  return [{ end, bytes: end - start > limits.maxEntryBytes ? undefined : await spool.read(start, end) }];
}

function* wholeLines(
  chunk: Buffer,
  start: number,
  { maxEntryBytes }: SourceLimits,
  isLast: boolean,
): Generator<FoundLine> {
  const line = (from: number, to: number): FoundLine => ({
    end: start + to,
    bytes: to - from > maxEntryBytes ? undefined : chunk.subarray(from, to),
  });
  let at = 0;
  for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, at)) {
    yield line(at, end);
    at = end + 1;
  }
  if (isLast && at < chunk.length) yield line(at, chunk.length);
}

/** Text of UTF-8 bytes; throws SourceError on any other encoding. */
export function decodeUtf8(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new SourceError('is not valid UTF-8. Convert it to UTF-8');
  return bytes.toString('utf8');
}

/** What a line or entry that is too large is rejected with. */
export function tooLarge(limits: SourceLimits): string {
  return `is larger than the limit for one resource, ${sizeText(limits.maxEntryBytes)}`;
}

/** Bytes of it at the beginning. */
function byteOrderMark(bytes: Buffer): number {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
}

function opensValue(byte: number): boolean {
  return byte === 0x5b || byte === 0x2c || byte === 0x3a;
}

async function lineEnd(spool: Spool, start: number): Promise<number> {
  const pause = createPauses();
  for (let from = start; from < spool.sizeBytes; from += CHUNK_BYTES) {
    const chunk = await spool.read(from, Math.min(from + CHUNK_BYTES, spool.sizeBytes));
    const index = chunk.indexOf(NEWLINE);
    if (index !== -1) return from + index;
    await pause();
  }
  return spool.sizeBytes;
}

function isBlank(bytes: Buffer): boolean {
  return bytes.every((byte) => byte <= SPACE);
}

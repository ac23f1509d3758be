/**
 * Finds where the elements of the top-level `entry` array of a JSON document stand, in bytes and in one pass,
 * without holding the document.
 *
 * It looks at structure only: depth, strings and escapes. What stands outside the elements (the envelope) and
 * each element are parsed by `JSON.parse` afterwards, so that nothing broken gets through; what the scanner
 * checks itself is what lies between elements. UTF-8 needs no decoding here: no byte of a multi-byte
 * character is ever one of the ASCII characters looked for.
 * Contract: IN-4.
 */
import { sizeText } from './limits.ts';
import { NOTHING_TAKEN, SourceError } from './source-error.ts';

/** Bytes `[start, end)` of one element. */
export interface ElementRange {
  start: number;
  end: number;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const COMMA = 0x2c;
const COLON = 0x3a;

/** Bytes of a key that are looked at: `entry` takes 30 at most, every letter escaped. */
const KEY_MAX = 64;

/** Depth inside the `entry` list. */
const LIST_DEPTH = 2;
/** By byte, how it changes the depth outside strings. */
const DEPTH_STEP = new Int8Array(256);
DEPTH_STEP[OPEN_BRACE] = 1;
DEPTH_STEP[OPEN_BRACKET] = 1;
DEPTH_STEP[CLOSE_BRACE] = -1;
DEPTH_STEP[CLOSE_BRACKET] = -1;

type Mode = 'envelope' | 'first-element' | 'element' | 'after-element' | 'next-element';

export class BundleScanner {
  readonly #maxEntryBytes: number;
  #mode: Mode = 'envelope';
  #position = 0;
  #depth = 0;
  #inString = false;
  #escaped = false;
  #expectsKey = false;
  /** The last key at depth 1, and the bytes of the one being read. */
  #key = '';
  #keyBytes: number[] | undefined;
  #seenEntry = false;
  #elementStart = 0;
  #elements = 0;
  #envelope: Buffer[] = [];
  #envelopeBytes = 0;
  #failure: unknown;

  constructor(maxEntryBytes: number) {
    this.#maxEntryBytes = maxEntryBytes;
  }

  /**
   * The elements that end in `chunk`, the next bytes of the document. Throws SourceError; only at the call
   * after the one that met the fault, so that the elements before it can be looked at first.
   */
  push(chunk: Buffer): ElementRange[] {
    if (this.#failure !== undefined) throw this.#failure;
    const found: ElementRange[] = [];
    try {
      this.#scan(chunk, found);
    } catch (error) {
      this.#failure = error;
    }
    this.#position += chunk.length;
    return found;
  }

  /** The document without the elements of `entry`, as bytes of JSON. Throws SourceError when it is not complete. */
  finish(): Buffer {
    if (this.#failure !== undefined) throw this.#failure;
    if (this.#mode !== 'envelope')
      throw this.#broken(
        `ends in the middle of its entries. ${NOTHING_TAKEN}`,
        this.#elements + (this.#mode === 'after-element' ? 0 : 1),
      );
    return Buffer.concat(this.#envelope);
  }

  #scan(chunk: Buffer, found: ElementRange[]): void {
    let index = 0;
    while (index < chunk.length) {
      if (this.#mode === 'envelope') index = this.#scanEnvelope(chunk, index);
      else if (this.#mode === 'element') index = this.#scanElement(chunk, index, found);
      else index = this.#scanBetween(chunk, index);
    }
  }

  #scanEnvelope(chunk: Buffer, from: number): number {
    let index = from;
    for (; index < chunk.length && this.#mode === 'envelope'; index += 1) {
      const byte = chunk[index] as number;
      if (this.#inString) this.#inEnvelopeString(byte);
      else if (byte === QUOTE) {
        this.#inString = true;
        this.#keyBytes = this.#depth === 1 && this.#expectsKey ? [] : undefined;
      } else this.#structure(byte);
    }
    this.#keep(chunk.subarray(from, index));
    return index;
  }

  #inEnvelopeString(byte: number): void {
    const ends = !this.#escaped && byte === QUOTE;
    this.#escaped = !this.#escaped && byte === BACKSLASH;
    if (ends) this.#endEnvelopeString();
    else if (this.#keyBytes !== undefined && this.#keyBytes.length < KEY_MAX) this.#keyBytes.push(byte);
  }

  #endEnvelopeString(): void {
    this.#inString = false;
    if (this.#keyBytes === undefined) return;
    this.#expectsKey = false;
    this.#key = keyText(this.#keyBytes);
    this.#keyBytes = undefined;
  }

  #structure(byte: number): void {
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      if (byte === OPEN_BRACKET && this.#depth === 1 && this.#key === 'entry') this.#openEntries();
      this.#depth += 1;
      if (this.#depth === 1) this.#expectsKey = byte === OPEN_BRACE;
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) this.#depth -= 1;
    else if (byte === COMMA && this.#depth === 1) {
      this.#expectsKey = true;
      this.#key = '';
    } else if (byte === COLON) this.#expectsKey = false;
  }

  #openEntries(): void {
    if (this.#seenEntry) throw this.#broken('has two entry lists');
    this.#seenEntry = true;
    this.#mode = 'first-element';
  }

  #scanBetween(chunk: Buffer, from: number): number {
    let index = from;
    while (index < chunk.length && isSpace(chunk[index] as number)) index += 1;
    if (index === chunk.length) return index;
    const byte = chunk[index];
    if (byte === CLOSE_BRACKET && this.#mode !== 'next-element') {
      // The envelope goes on with the bracket, as if the list were empty.
      this.#mode = 'envelope';
      this.#key = '';
      return index;
    }
    if (this.#mode === 'after-element') {
      if (byte !== COMMA) throw this.#broken('has no comma after this entry', this.#elements);
      this.#mode = 'next-element';
      return index + 1;
    }
    if (byte !== OPEN_BRACE) throw this.#broken('has an entry that is not an object', this.#elements + 1);
    this.#mode = 'element';
    this.#elementStart = this.#position + index;
    this.#depth = LIST_DEPTH + 1;
    return index + 1;
  }

  /** The hot loop: every byte of every entry goes through it. */
  #scanElement(chunk: Buffer, from: number, found: ElementRange[]): number {
    let depth = this.#depth;
    let inString = this.#inString;
    let index = this.#escaped ? from + 1 : from;
    for (; index < chunk.length && depth > LIST_DEPTH; index += 1) {
      const byte = chunk[index] as number;
      if (!inString) {
        if (byte === QUOTE) inString = true;
        else depth += DEPTH_STEP[byte] as number;
      } else if (byte === QUOTE) inString = false;
      else if (byte === BACKSLASH) index += 1;
    }
    // A backslash was the last byte of the chunk: what it escapes is the first of the next.
    this.#escaped = index > chunk.length;
    this.#depth = depth;
    this.#inString = inString;
    const end = this.#position + Math.min(index, chunk.length);
    if (end - this.#elementStart > this.#maxEntryBytes)
      throw this.#broken(`has an entry larger than ${sizeText(this.#maxEntryBytes)}`, this.#elements + 1);
    if (depth === LIST_DEPTH) {
      this.#elements += 1;
      found.push({ start: this.#elementStart, end });
      this.#mode = 'after-element';
    }
    return end - this.#position;
  }

  #keep(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.#envelopeBytes += bytes.length;
    if (this.#envelopeBytes > this.#maxEntryBytes)
      throw this.#broken(
        this.#seenEntry
          ? `has more than ${sizeText(this.#maxEntryBytes)} outside its entries`
          : `is larger than the limit for one resource, ${sizeText(this.#maxEntryBytes)}`,
      );
    this.#envelope.push(Buffer.from(bytes));
  }

  #broken(reason: string, entry?: number): SourceError {
    return new SourceError(reason, entry === undefined ? {} : { entry });
  }
}

/** A key as JSON reads it; keys may be written with escapes. */
function keyText(bytes: number[]): string {
  try {
    return String(JSON.parse(`"${Buffer.from(bytes).toString()}"`));
  } catch {
    return '';
  }
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

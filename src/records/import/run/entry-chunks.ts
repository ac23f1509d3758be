/** Entries in sets of some hundreds: what is read, mapped and written together. */
import type { UnitEntry } from './unit.ts';

/** Resources in one set of statements at most, and bytes of JSON at most. */
const CHUNK_RESOURCES = 500;
const CHUNK_BYTES = 8 * 1_048_576;

export function* chunks(entries: readonly UnitEntry[]): Generator<UnitEntry[]> {
  let chunk: UnitEntry[] = [];
  let bytes = 0;
  for (const entry of entries) {
    chunk.push(entry);
    bytes += entry.end - entry.start;
    if (chunk.length < CHUNK_RESOURCES && bytes < CHUNK_BYTES) continue;
    yield chunk;
    chunk = [];
    bytes = 0;
  }
  if (chunk.length > 0) yield chunk;
}

/** Names under which records can be referred to: by id, or by a business identifier. Contract: IN-16. */
import { hash } from 'node:crypto';
import type { IdentifierKey } from '../map/resource-importer.ts';

export function nameById(type: string, id: string): string {
  return `${type}/${id}`;
}

export function nameByIdentifier(type: string, { system, value }: IdentifierKey): string {
  return `${type}?${system}|${value}`;
}

/** Bits of a set, and bits that one name sets. */
const BITS = 2 ** 24;
const PROBES = 4;

/**
 * A set of names in 2 MiB, whatever their number (a Bloom filter): it never forgets one, and may take another for
 * one of them, the more so past a million.
 */
export class RecordNames {
  readonly #bits = new Uint8Array(BITS / 8);

  add(names: Iterable<string>): void {
    for (const name of names)
      for (const bit of bitsOf(name)) this.#bits[bit >>> 3] = (this.#bits[bit >>> 3] ?? 0) | (1 << (bit & 7));
  }

  has(name: string): boolean {
    return bitsOf(name).every((bit) => ((this.#bits[bit >>> 3] ?? 0) & (1 << (bit & 7))) !== 0);
  }
}

function bitsOf(name: string): number[] {
  const digest = hash('sha1', name, 'buffer');
  return Array.from({ length: PROBES }, (_, probe) => digest.readUInt32LE(probe * 4) % BITS);
}

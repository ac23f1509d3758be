/** The master key: it wraps data keys and does nothing else (docs/adr/0085). */
import { deriveKey, openUnderAny, sealUnder } from './key-ring.ts';

export interface MasterKey {
  bytes: Buffer;
  /** Tells master keys apart in messages and in the database, and discloses nothing of them. */
  id: string;
}

/** Where a process has its master key from; a file is read anew each time. */
export interface MasterKeySource {
  /** As the operator knows it: the variable, or the path of the file. */
  name: string;
  /** Whether every load gives the same key. */
  fixed: boolean;
  load(): Promise<MasterKey>;
  /** What to do where the database expects other keys, as sentences. */
  remedy(expectedIds: readonly string[]): Promise<string>;
}

export function createMasterKey(bytes: Buffer): MasterKey {
  return { bytes, id: deriveKey(bytes, 'master-key/id').toString('hex').slice(0, 16) };
}

export function wrapDataKey({ bytes }: MasterKey, number: number, dataKey: Uint8Array): Buffer {
  return sealUnder(bytes, wrappedAs(number), dataKey);
}

/** Undefined when the master key is another, or the bytes were changed. */
export function unwrapDataKey({ bytes }: MasterKey, number: number, wrapped: Uint8Array): Buffer | undefined {
  return openUnderAny([bytes], wrappedAs(number), wrapped);
}

function wrappedAs(number: number) {
  return { purpose: 'data-key', context: String(number) };
}

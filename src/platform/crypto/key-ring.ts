/**
 * Keys derived from the data keys, and sealing of secrets at rest (AES-256-GCM, HKDF RFC 5869;
 * docs/adr/0085).
 * Contract: SEC-14.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import type { Queryable } from '../db/database.ts';

const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** What something is sealed for: both must be the same to open it. */
export interface SealedFor {
  purpose: string;
  /** The ids of its row, for example. */
  context: string;
}

export interface KeyRing {
  /** A 32-byte key for one purpose, from the first data key: the same after every rotation. */
  derive(purpose: string): Buffer;
  /**
   * Keys for one purpose, from every data key that the database has by now, newest first. In a transaction the
   * newest stays that until the end of it.
   */
  deriveAll(db: Queryable, purpose: string): Promise<[newest: Buffer, ...older: Buffer[]]>;
  /** Seal bytes under the newest data key. In a transaction that one stays the newest until the end of it. */
  seal(db: Queryable, sealedFor: SealedFor, plain: Uint8Array): Promise<Buffer>;
  /**
   * Open what `seal` made, under whichever data key. Rejects when no data key opens it, the purpose or the context is
   * another, or a single bit differs.
   */
  open(sealedFor: SealedFor, sealed: Uint8Array): Promise<Buffer>;
}

/** Data keys, newest first. There is at least one. */
export type DataKeys = readonly [newest: Buffer, ...older: Buffer[]];

/** Where a key ring has its data keys from. */
export interface DataKeySource {
  /** Those that are known so far. */
  readonly known: DataKeys;
  /** Those of the database. With `db`, on that connection, and as long as its transaction lasts none is added. */
  read(db?: Queryable): Promise<DataKeys>;
}

/** Over data keys that may be renewed, or over one that never is. */
export function createKeyRing(given: DataKeySource | Uint8Array): KeyRing {
  const source = given instanceof Uint8Array ? fixed(given) : given;
  const stable = new Map<string, Buffer>();
  return {
    derive(purpose) {
      const key = stable.get(purpose) ?? deriveKey(source.known.at(-1) ?? source.known[0], purpose);
      stable.set(purpose, key);
      return key;
    },
    async deriveAll(db, purpose) {
      const [newest, ...older] = await source.read(db);
      return [deriveKey(newest, purpose), ...older.map((key) => deriveKey(key, purpose))];
    },
    async seal(db, sealedFor, plain) {
      const [newest] = await source.read(db);
      return sealUnder(newest, sealedFor, plain);
    },
    async open(sealedFor, sealed) {
      const opened = openUnderAny(source.known, sealedFor, sealed);
      if (opened !== undefined) return opened;
      const read = openUnderAny(await source.read(), sealedFor, sealed);
      if (read === undefined) throw new Error('no data key opens what was sealed');
      return read;
    },
  };
}

function fixed(dataKey: Uint8Array): DataKeySource {
  requireKeySize(dataKey);
  const known: DataKeys = [Buffer.from(dataKey)];
  return { known, read: async () => known };
}

/** Seal under one data key. */
export function sealUnder(dataKey: Uint8Array, { purpose, context }: SealedFor, plain: Uint8Array): Buffer {
  return sealWith(deriveKey(dataKey, `seal/${purpose}`), plain, context);
}

/** Undefined when none of the keys opens it. A wrong key is known by the tag, so they are tried in turn. */
export function openUnderAny(
  dataKeys: readonly Uint8Array[],
  { purpose, context }: SealedFor,
  sealed: Uint8Array,
): Buffer | undefined {
  for (const key of dataKeys)
    try {
      return openWith(deriveKey(key, `seal/${purpose}`), sealed, context);
    } catch {
      // The next one may.
    }
  return undefined;
}

/** A 32-byte key for one purpose. */
export function deriveKey(key: Uint8Array, purpose: string): Buffer {
  requireKeySize(key);
  return Buffer.from(hkdfSync('sha256', key, '', `interchange/${purpose}`, KEY_BYTES));
}

function requireKeySize({ length }: Uint8Array): void {
  if (length !== KEY_BYTES) throw new RangeError('a key must be 32 bytes');
}

/** Seal under a 32-byte key: nonce, ciphertext, tag. */
export function sealWith(key: Uint8Array, plain: Uint8Array, context: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(context));
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

/** Open what {@link sealWith} made; throws when anything differs. */
export function openWith(key: Uint8Array, sealed: Uint8Array, context: string): Buffer {
  const bytes = Buffer.from(sealed);
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES))
    .setAAD(Buffer.from(context))
    .setAuthTag(bytes.subarray(-TAG_BYTES));
  return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
}

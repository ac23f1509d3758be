/** Keys derived from the master key, and sealing of secrets at rest (AES-256-GCM, HKDF RFC 5869). */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export interface KeyRing {
  /** A 32-byte key for one purpose; the same purpose gives the same key. */
  derive(purpose: string): Buffer;
  /** Seal bytes for one purpose; `context` (ids of the row, for example) must be the same to open. */
  seal(purpose: string, plain: Uint8Array, context: string): Buffer;
  /** Open what `seal` made. Throws when the key, the purpose, the context or a single bit differs. */
  open(purpose: string, sealed: Uint8Array, context: string): Buffer;
}

/** A key ring over a 32-byte master key. */
export function createKeyRing(masterKey: Uint8Array): KeyRing {
  if (masterKey.length !== 32) throw new RangeError('the master key must be 32 bytes');
  const derived = new Map<string, Buffer>();
  const derive = (purpose: string): Buffer => {
    let key = derived.get(purpose);
    if (key === undefined) {
      key = Buffer.from(hkdfSync('sha256', masterKey, '', `interchange/${purpose}`, 32));
      derived.set(purpose, key);
    }
    return key;
  };
  return {
    derive,
    seal: (purpose, plain, context) => sealWith(derive(`seal/${purpose}`), plain, context),
    open: (purpose, sealed, context) => openWith(derive(`seal/${purpose}`), sealed, context),
  };
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

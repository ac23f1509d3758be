/** The secret of a target: sealed at rest for one row and one secret id. */
import { randomUUID } from 'node:crypto';
import type { KeyRing } from '../platform/crypto/key-ring.ts';

export interface SealedSecret {
  id: string;
  sealed: Buffer;
}

const SEAL_PURPOSE = 'publish-secret';

export function sealSecret(keys: KeyRing, targetId: string, text: string): SealedSecret {
  const id = randomUUID();
  return { id, sealed: keys.seal(SEAL_PURPOSE, Buffer.from(text), `${targetId}/${id}`) };
}

/** Throws when the row was changed or moved, or the master key is another. */
export function openSecret(keys: KeyRing, targetId: string, { id, sealed }: SealedSecret): string {
  return keys.open(SEAL_PURPOSE, sealed, `${targetId}/${id}`).toString();
}

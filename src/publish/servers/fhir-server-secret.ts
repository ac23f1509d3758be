/** The secret of a target: sealed at rest for one row and one secret id. Contract: PUB-52. */
import { randomUUID } from 'node:crypto';
import type { KeyRing, SealedFor } from '../../platform/crypto/key-ring.ts';
import type { Queryable } from '../../platform/db/database.ts';

export interface SealedSecret {
  id: string;
  sealed: Buffer;
}

/** Call it in the transaction that stores the secret. */
export async function sealSecret(
  { db, keys }: { db: Queryable; keys: KeyRing },
  targetId: string,
  text: string,
): Promise<SealedSecret> {
  const id = randomUUID();
  return { id, sealed: await keys.seal(db, sealedFor(targetId, id), Buffer.from(text)) };
}

/** Rejects when the row was changed or moved. */
export async function openSecret(
  keys: KeyRing,
  targetId: string,
  { id, sealed }: SealedSecret,
): Promise<string> {
  return (await keys.open(sealedFor(targetId, id), sealed)).toString();
}

export function sealedFor(targetId: string, id: string): SealedFor {
  return { purpose: 'publish-secret', context: `${targetId}/${id}` };
}

/** Secrets that are sent to servers of others: sealed at rest, each for one row (docs/adr/0085). Contract: PUB-52. */
import { randomUUID } from 'node:crypto';
import type { KeyRing, SealedFor } from '../platform/crypto/key-ring.ts';
import type { Queryable } from '../platform/db/database.ts';

/** A secret as it is stored. */
export interface SealedSecret {
  id: string;
  sealed: Buffer;
}

/** Call it in the transaction that stores the secret. `sealedFor` answers what the secret of a new id is sealed for. */
export async function sealSecret(
  { db, keys }: { db: Queryable; keys: KeyRing },
  sealedFor: (id: string) => SealedFor,
  text: string,
): Promise<SealedSecret> {
  const id = randomUUID();
  return { id, sealed: await keys.seal(db, sealedFor(id), Buffer.from(text)) };
}

/** The text of a stored secret. Rejects when the row was changed or moved. */
export async function openSecret(keys: KeyRing, sealedFor: SealedFor, sealed: Buffer): Promise<string> {
  return (await keys.open(sealedFor, sealed)).toString();
}

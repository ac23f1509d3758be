/** The secret of a FHIR server: sealed at rest for one row and one secret id. Contract: PUB-52. */
import { randomUUID } from 'node:crypto';
import type { KeyRing, SealedFor } from '../../platform/crypto/key-ring.ts';
import type { Queryable } from '../../platform/db/database.ts';

export interface SealedServerSecret {
  id: string;
  sealed: Buffer;
}

/** Call it in the transaction that stores the secret. */
export async function sealServerSecret(
  { db, keys }: { db: Queryable; keys: KeyRing },
  fhirServerId: string,
  text: string,
): Promise<SealedServerSecret> {
  const id = randomUUID();
  return { id, sealed: await keys.seal(db, sealedFor(fhirServerId, id), Buffer.from(text)) };
}

/** Rejects when the row was changed or moved. */
export async function openServerSecret(
  keys: KeyRing,
  fhirServerId: string,
  { id, sealed }: SealedServerSecret,
): Promise<string> {
  return (await keys.open(sealedFor(fhirServerId, id), sealed)).toString();
}

export function sealedFor(fhirServerId: string, id: string): SealedFor {
  return { purpose: 'publish-secret', context: `${fhirServerId}/${id}` };
}

/**
 * Secrets of a connection: made here, shown once, sealed at rest, good together while they are rotated.
 * Contract: EXC-45.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import type { KeyRing, SealedFor } from '../../platform/crypto/key-ring.ts';
import type { Queryable } from '../../platform/db/database.ts';
import type { ConnectionKey } from '../queue/lane.store.ts';

export type SecretDirection = 'outbound' | 'callback';

/** A secret as it is stored. */
export interface SealedSecret {
  id: string;
  direction: SecretDirection;
  sealed: Buffer;
}

const SECRET_BYTES = 32;

/** A new secret: the text that is shown once, and what is stored of it, in the transaction that stores it. */
export async function makeSecret(
  { db, keys }: { db: Queryable; keys: KeyRing },
  key: ConnectionKey,
  direction: SecretDirection,
): Promise<{ text: string; stored: SealedSecret }> {
  const text = randomBytes(SECRET_BYTES).toString('base64url');
  const id = randomUUID();
  const sealed = await keys.seal(db, sealedFor(key, id, direction), Buffer.from(text));
  return { text, stored: { id, direction, sealed } };
}

/** The text of a stored secret. Rejects when the row was changed or moved. */
export async function openSecret(
  keys: KeyRing,
  key: ConnectionKey,
  { id, direction, sealed }: SealedSecret,
): Promise<string> {
  return (await keys.open(sealedFor(key, id, direction), sealed)).toString();
}

export function sealedFor(
  { organisationId, connectionId }: ConnectionKey,
  id: string,
  direction: string,
): SealedFor {
  return { purpose: 'exchange-secret', context: `${organisationId}/${connectionId}/${id}/${direction}` };
}

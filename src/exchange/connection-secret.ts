/** Secrets of a connection: made here, shown once, sealed at rest, good together while they are rotated. */
import { randomBytes, randomUUID } from 'node:crypto';
import type { KeyRing } from '../platform/crypto/key-ring.ts';
import type { ConnectionKey } from './lane.store.ts';

export type SecretDirection = 'outbound' | 'callback';

/** A secret as it is stored. */
export interface SealedSecret {
  id: string;
  direction: SecretDirection;
  sealed: Buffer;
}

const SEAL_PURPOSE = 'exchange-secret';
const SECRET_BYTES = 32;

/** A new secret: the text that is shown once, and what is stored of it. */
export function makeSecret(
  keys: KeyRing,
  key: ConnectionKey,
  direction: SecretDirection,
): { text: string; stored: SealedSecret } {
  const text = randomBytes(SECRET_BYTES).toString('base64url');
  const id = randomUUID();
  const sealed = keys.seal(SEAL_PURPOSE, Buffer.from(text), context(key, id, direction));
  return { text, stored: { id, direction, sealed } };
}

/** The text of a stored secret. Throws when the row was changed or moved, or the master key is another. */
export function openSecret(
  keys: KeyRing,
  key: ConnectionKey,
  { id, direction, sealed }: SealedSecret,
): string {
  return keys.open(SEAL_PURPOSE, sealed, context(key, id, direction)).toString();
}

function context({ organisationId, connectionId }: ConnectionKey, id: string, direction: string): string {
  return `${organisationId}/${connectionId}/${id}/${direction}`;
}

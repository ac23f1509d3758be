/** Gives a connection new secrets; the old ones stay good for an overlap (design 3.6). */
import { transaction } from '../platform/db/database.ts';
import { updateConnection } from './connection.store.ts';
import { endSecrets, insertSecret } from './connection-secret.store.ts';
import { makeSecret, SECRET_DIRECTIONS, type SecretDirection } from './connection-secret.ts';
import { type ConnectionDependencies, callbackUrl } from './create-connection.ts';
import type { ConnectionKey } from './lane.store.ts';

export interface Rotation {
  /** Undefined: both. */
  direction?: SecretDirection;
  /** For how long the old secrets stay good. Zero: they end at once. */
  overlapSeconds: number;
}

export const DEFAULT_OVERLAP_SECONDS = 86_400;

/** What is shown once; only the directions that were rotated. */
export interface RotatedSecrets {
  id: string;
  outboundSecret?: string;
  callbackSecret?: string;
  oldGoodUntil: string;
  /** Where callbacks go, as when the connection was made. */
  callbackUrl: string;
}

/**
 * The new outbound secret signs from now on; the receiver accepts both until the overlap ends. Callbacks under the
 * old and the new secret are accepted until then. Undefined when there is no such connection.
 */
export async function rotateSecret(
  { db, keys, now, publicBaseUrl }: Pick<ConnectionDependencies, 'db' | 'keys' | 'now' | 'publicBaseUrl'>,
  key: ConnectionKey,
  { direction, overlapSeconds }: Rotation,
): Promise<RotatedSecrets | undefined> {
  const goodUntil = new Date(now.getTime() + overlapSeconds * 1_000);
  const rotated: RotatedSecrets = {
    id: key.connectionId,
    oldGoodUntil: goodUntil.toISOString(),
    callbackUrl: callbackUrl(publicBaseUrl, key.connectionId),
  };
  return transaction(db, async (client) => {
    // Also takes the lock under which rotations of one connection follow each other.
    if (!(await updateConnection(client, key, {}))) return undefined;
    for (const one of direction === undefined ? SECRET_DIRECTIONS : [direction]) {
      const { text, stored } = await makeSecret({ db: client, keys }, key, one);
      await endSecrets(client, key, { direction: one, goodUntil });
      await insertSecret(client, key, stored, now);
      rotated[`${one}Secret`] = text;
    }
    return rotated;
  });
}

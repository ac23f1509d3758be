/** Whether a callback comes from the exchange that it claims to. Contract: EXC-37, SEC-17. */
import { randomBytes, randomUUID } from 'node:crypto';
import { createKeyRing, type KeyRing } from '../../platform/crypto/key-ring.ts';
import type { Pool } from '../../platform/db/database.ts';
import type { DatabaseTime } from '../../platform/db/database-time.ts';
import { isUuid } from '../../platform/uuid.ts';
import { organisationOfConnection } from '../connections/connection.store.ts';
import { goodCallbackSecrets, type SealedConnectionSecret } from '../connections/connection-secret.store.ts';
import { makeConnectionSecret, openConnectionSecret } from '../connections/connection-secret.ts';
import { exchangeError } from '../errors.ts';
import type { ConnectionKey } from '../queue/lane.store.ts';
import { matchingSecret } from '../signing/callback-signature.ts';
import { type CallbackConnection, callbackConnection } from './callback.store.ts';

export interface CallbackRequest {
  connectionId: string;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The bytes as they came. */
  body: Uint8Array;
  databaseTime: DatabaseTime;
}

export interface Authenticated {
  key: ConnectionKey;
  connection: CallbackConnection;
  secretId: string;
}

/** Secrets tried at least, so that one secret, two and none take the same work. */
const MIN_SECRETS = 2;

/**
 * Throws one and the same 401 for a missing, wrong, malformed or repeated signature, an unknown or disabled
 * connection, and one without a secret, after the same queries and the same number of digests.
 */
export function createAuthenticateCallback({ db, keys }: { db: Pool; keys: KeyRing }) {
  const decoy = { organisationId: randomUUID(), connectionId: randomUUID() };
  const decoyKeys = createKeyRing(randomBytes(32));
  const decoys = Promise.all(
    Array.from({ length: MIN_SECRETS }, () =>
      makeConnectionSecret({ db, keys: decoyKeys }, decoy, 'callback'),
    ),
  );
  return async ({ connectionId, headers, body, databaseTime }: CallbackRequest): Promise<Authenticated> => {
    // Its secrets are sealed for the id as it is stored, in lower case.
    const asked = isUuid(connectionId) ? connectionId.toLowerCase() : decoy.connectionId;
    const organisationId = await organisationOfConnection(db, asked);
    const key = { organisationId: organisationId ?? decoy.organisationId, connectionId: asked };
    const [connection, good] = await Promise.all([
      callbackConnection(db, key),
      goodCallbackSecrets(db, key, databaseTime),
    ]);
    const secrets = await Promise.all([
      ...good.map((secret) => openOrNone(keys, key, secret)),
      ...(await decoys)
        .slice(good.length)
        .map(({ stored }) => openConnectionSecret(decoyKeys, decoy, stored)),
    ]);
    const found = matchingSecret(headers[connection?.callbackHeader ?? 'x-signature'], body, secrets);
    const secret: SealedConnectionSecret | undefined = good[found];
    if (connection === undefined || secret === undefined) throw exchangeError('callback_signature');
    return { key, connection, secretId: secret.id };
  };
}

/** A secret whose row cannot be read matches nothing: the answer is the 401 of any other. */
function openOrNone(keys: KeyRing, key: ConnectionKey, secret: SealedConnectionSecret): Promise<string> {
  return openConnectionSecret(keys, key, secret).catch(() => randomUUID());
}

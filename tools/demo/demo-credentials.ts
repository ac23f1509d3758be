/** What the simulated exchange of the demo signs and checks with: the secrets of its connection, as they are stored. */
import {
  goodCallbackSecrets,
  type SealedConnectionSecret,
  signingSecrets,
} from '../../src/exchange/connections/connection-secret.store.ts';
import { openConnectionSecret } from '../../src/exchange/connections/connection-secret.ts';
import { callbackUrl } from '../../src/exchange/connections/create-connection.ts';
import type { KeyRing } from '../../src/platform/crypto/key-ring.ts';
import type { Queryable } from '../../src/platform/db/database.ts';
import type { ConnectionFile, Credentials } from '../exchange-simulator/connection-file.ts';

interface Dependencies {
  db: Queryable;
  keys: KeyRing;
  publicBaseUrl: string;
  now: () => Date;
}

interface ConnectionKey {
  organisationId: string;
  connectionId: string;
}

/** Read again when a signature is refused, so that secrets may be rotated while the demo runs. */
export async function openDemoCredentials(deps: Dependencies, key: ConnectionKey): Promise<ConnectionFile> {
  let credentials = await readCredentials(deps, key);
  return {
    get credentials() {
      return credentials;
    },
    async renew() {
      const before = JSON.stringify(credentials);
      credentials = await readCredentials(deps, key);
      return JSON.stringify(credentials) !== before;
    },
  };
}

async function readCredentials(
  { db, keys, publicBaseUrl, now }: Dependencies,
  key: ConnectionKey,
): Promise<Credentials> {
  const open = (secret: SealedConnectionSecret) => openConnectionSecret(keys, key, secret);
  const secrets = await Promise.all((await signingSecrets(db, key)).map(open));
  const [callback] = await Promise.all((await goodCallbackSecrets(db, key, now())).map(open));
  return {
    secrets,
    callback: { url: callbackUrl(publicBaseUrl, key.connectionId), secret: callback ?? '' },
  };
}

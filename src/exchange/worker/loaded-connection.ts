/** Where and how one connection is delivered to, loaded anew whenever its version moves. */
import type { KeyRing } from '../../platform/crypto/key-ring.ts';
import { createBatcher } from '../../platform/db/batch.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { type AddressSettings, reachOf } from '../connections/connection.ts';
import { noteSecretUse, signingSecrets } from '../connections/connection-secret.store.ts';
import { openConnectionSecret } from '../connections/connection-secret.ts';
import { type SendSettings, sendSettings } from '../queue/connection-state.store.ts';
import type { ConnectionKey } from '../queue/lane.store.ts';
import { type Permit, type PermitRequest, permits } from '../queue/send-permit.store.ts';
import { createSender, type Sender } from './send.ts';

export interface LoadedConnection extends SendSettings {
  version: number;
  sender: Sender;
  /** The secret that signs at a time. */
  secretAt(time: Date): string;
  /** Whether a delivery may go out now, as the connection was loaded. Those that ask together share a round trip. */
  permit: (request: PermitRequest) => Promise<Permit>;
  /** Note that the secret was used. It is not written each time. */
  noteUse(deliveryId: string, at: Date): Promise<void>;
}

interface LoadDependencies {
  db: Queryable;
  keys: KeyRing;
  settings: AddressSettings;
}

const USE_WRITTEN_EVERY_MS = 30_000;
const PERMITS_AT_ONCE = 256;
/** More than one, so that a request does not wait for a statement that began just before it. */
const PERMIT_STATEMENTS = 3;

/**
 * Undefined when the connection is disabled or has no secret. Throws AddressRefusedError when its address must
 * not be used.
 */
export async function loadConnection(
  { db, keys, settings }: LoadDependencies,
  key: ConnectionKey,
  version: number,
): Promise<LoadedConnection | undefined> {
  const connection = await sendSettings(db, key);
  const secrets = await Promise.all(
    (await signingSecrets(db, key)).map(async (stored) => ({
      ...stored,
      text: await openConnectionSecret(keys, key, stored),
      usedMs: Number.NEGATIVE_INFINITY,
    })),
  );
  const current = secrets.find(({ activeFrom }) => activeFrom === null);
  if (connection === undefined || current === undefined) return undefined;
  // A secret that is active by the clock of the database is active, even if our clock is slow.
  const secretAt = (time: Date) =>
    secrets.find(({ activeFrom }) => activeFrom === null || activeFrom <= time) ?? current;
  return {
    ...connection,
    version,
    sender: createSender(connection.address, {
      ...connection,
      reach: reachOf(connection.operatorAddress, settings),
    }),
    secretAt: (time) => secretAt(time).text,
    permit: createBatcher({
      load: (requests: PermitRequest[]) => permits(db, key, { ...connection, version }, requests),
      maxKeys: PERMITS_AT_ONCE,
      maxInFlight: PERMIT_STATEMENTS,
    }),
    async noteUse(deliveryId, at) {
      const secret = secretAt(at);
      if (performance.now() - secret.usedMs < USE_WRITTEN_EVERY_MS) return;
      secret.usedMs = performance.now();
      await noteSecretUse(db, key, { secretId: secret.id, at, purpose: `delivery ${deliveryId}` });
    },
  };
}

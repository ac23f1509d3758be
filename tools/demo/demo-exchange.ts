/**
 * The exchange of the demo: a simulator in the process of the demo, and the connection that delivers to it.
 * Contract: CMD-26.
 */
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { lastingPort } from '../../local-postgres/lasting-port.ts';
import { changeConnection } from '../../src/exchange/connections/change-connection.ts';
import { type Connection, callbackUrl } from '../../src/exchange/connections/connection.schema.ts';
import { listConnections } from '../../src/exchange/connections/connection.store.ts';
import { BY_OPERATOR } from '../../src/exchange/connections/connection.ts';
import {
  goodCallbackSecrets,
  type SealedConnectionSecret,
  signingSecrets,
} from '../../src/exchange/connections/connection-secret.store.ts';
import { openConnectionSecret } from '../../src/exchange/connections/connection-secret.ts';
import { createConnection } from '../../src/exchange/connections/create-connection.ts';
import type { ConnectionKey } from '../../src/exchange/queue/lane.store.ts';
import type { KeyRing } from '../../src/platform/crypto/key-ring.ts';
import type { Pool } from '../../src/platform/db/database.ts';
import { WELL } from '../exchange-simulator/behaviour.ts';
import type { ConnectionFile, Credentials } from '../exchange-simulator/connection-file.ts';
import { createSimulatedExchange } from '../exchange-simulator/simulated-exchange.ts';

export interface DemoExchangeDependencies {
  db: Pool;
  keys: KeyRing;
  publicBaseUrl: string;
  now: () => Date;
}

export interface DemoExchange {
  close(): void;
}

interface Demo {
  organisationId: string;
  /** Whether a connection is made when there is none. */
  isFirstStart: boolean;
}

const NAME = 'Demo exchange';
/** Who changes the address of the connection to another than this has no use for the simulator. */
const OWN_ADDRESS = /^http:\/\/127\.0\.0\.1:(\d+)\/demo-exchange$/;
const SERVED_MS = 2_000;
/** Of the patient whom the exchange refuses once, so that there is a delivery to replay. */
const REFUSED_FAMILY = 'Nwosu';
const REFUSAL =
  'The exchange did not know the postal code of the patient. It does now: send the patient again.';

/** Listen where the connection leads, on another port if that one is taken. Returns how to end it. */
export async function openDemoExchange(deps: DemoExchangeDependencies, demo: Demo): Promise<DemoExchange> {
  const kept = (await listConnections(deps.db, demo)).find(({ address }) => OWN_ADDRESS.test(address));
  const port = Number(OWN_ADDRESS.exec(kept?.address ?? '')?.[1] ?? 0);
  if ((kept === undefined && !demo.isFirstStart) || (await isServed(port))) return { close: () => undefined };
  let connection: ConnectionFile | undefined;
  const server = createSimulatedExchange({
    connection: {
      get credentials() {
        return connection?.credentials ?? { secrets: [], callback: { url: '', secret: '' } };
      },
      renew: async () => (await connection?.renew()) ?? false,
    },
    callbackHeader: kept?.callbackHeader ?? 'x-signature',
    behaviour: WELL,
    refuse: refusesOnce(demo.isFirstStart),
    now: deps.now,
    onEvent: () => undefined,
  });
  await listenAt(server, port === 0 ? await lastingPort() : port);
  const connectionId = await leadTo(deps, demo, { server, kept });
  connection = await openDemoCredentials(deps, { organisationId: demo.organisationId, connectionId });
  return {
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** The secrets of the connection as they are stored. Read again when a signature is refused: they may be rotated. */
async function openDemoCredentials(
  deps: DemoExchangeDependencies,
  key: ConnectionKey,
): Promise<ConnectionFile> {
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
  { db, keys, publicBaseUrl, now }: DemoExchangeDependencies,
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

/** After a restart nothing is refused: what was held is taken when it is replayed. */
function refusesOnce(isFirstStart: boolean): (resource: unknown) => string | undefined {
  let mayRefuse = isFirstStart;
  return (resource) => {
    const { name } = resource as { name?: { family?: string }[] };
    if (!mayRefuse || name?.[0]?.family !== REFUSED_FAMILY) return undefined;
    mayRefuse = false;
    return REFUSAL;
  };
}

/** Whether a simulator is there already: that of a demo that runs on the same data. */
async function isServed(port: number): Promise<boolean> {
  if (port === 0) return false;
  try {
    const signal = AbortSignal.timeout(SERVED_MS);
    const answer = await fetch(`http://127.0.0.1:${port}/control`, { method: 'POST', body: '{}', signal });
    return answer.ok && Object.hasOwn((await answer.json()) as object, 'rejectRate');
  } catch {
    return false;
  }
}

async function listenAt(server: Server, port: number): Promise<void> {
  try {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  } catch (error) {
    // Another program has the port, or the system keeps it for itself.
    if (!['EADDRINUSE', 'EACCES'].includes(String((error as NodeJS.ErrnoException).code))) throw error;
    await listenAt(server, await lastingPort());
  }
}

/** Make the connection, or have it follow the simulator to another port. Returns its id. */
async function leadTo(
  { db, keys, publicBaseUrl, now }: DemoExchangeDependencies,
  { organisationId }: Demo,
  { server, kept }: { server: Server; kept: Connection | undefined },
): Promise<string> {
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/demo-exchange`;
  if (kept === undefined) {
    const making = { db, keys, publicBaseUrl, now: now(), author: BY_OPERATOR };
    const settings = { name: NAME, address, clientId: 'demo-hospitals', facilityIds: null };
    return (await createConnection(making, { organisationId }, settings)).id;
  }
  if (kept.address !== address) {
    const key = { organisationId, connectionId: kept.id };
    await changeConnection(db, key, { changes: { address }, author: BY_OPERATOR });
  }
  return kept.id;
}

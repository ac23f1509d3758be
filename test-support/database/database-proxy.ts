/** Stands between clients and PostgreSQL, and fails as a network or a server does. */
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { freePort, listenHere } from '../service/free-port.ts';

export interface DatabaseProxy {
  /** Of the database, through the proxy. */
  url: string;
  /** Every connection is lost, and new ones are refused. */
  cut(): Promise<void>;
  /** From now on nothing passes, and nobody hears that a connection ends. */
  freeze(): void;
  /** Connections are taken again; those of before are lost. */
  mend(): Promise<void>;
  /** From now on a message of a client with this text does not arrive, nor does what follows on its connection. */
  swallow(text: string): void;
  close(): Promise<void>;
}

export async function startDatabaseProxy(databaseUrl: string): Promise<DatabaseProxy> {
  const url = new URL(databaseUrl);
  const target = { host: url.hostname, port: Number(url.port) };
  const sockets = new Set<Socket>();
  let swallowed: string | undefined;
  let frozen = false;

  const server = createServer({ allowHalfOpen: true }, (client) => {
    const database = connect(target);
    let stalled = false;
    client.on('data', (bytes: Buffer) => {
      stalled ||= swallowed !== undefined && bytes.includes(swallowed);
      if (!stalled && !frozen) database.write(bytes);
    });
    database.on('data', (bytes: Buffer) => {
      if (!frozen) client.write(bytes);
    });
    for (const [socket, other] of [
      [client, database],
      [database, client],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('end', () => {
        if (!frozen) other.end();
      });
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
  });

  function lose(): void {
    for (const socket of sockets) socket.destroy();
  }

  async function cut(): Promise<void> {
    const closed = once(server, 'close');
    server.close();
    lose();
    await closed;
  }

  const port = await listenHere(server, await freePort());
  url.hostname = '127.0.0.1';
  url.port = String(port);
  return {
    url: url.href,
    cut,
    freeze() {
      frozen = true;
    },
    async mend() {
      lose();
      frozen = false;
      if (!server.listening) await listenHere(server, port);
    },
    swallow(text) {
      swallowed = text;
    },
    close: () => (server.listening ? cut() : Promise.resolve()),
  };
}

/** Stands between clients and PostgreSQL, and fails as a network or a server does. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface DatabaseProxy {
  /** Of the database, through the proxy. */
  url: string;
  /** Every connection is lost, and new ones are refused. */
  cut(): Promise<void>;
  /** Connections are taken again. */
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

  const server = createServer((client) => {
    const database = connect(target);
    let stalled = false;
    client.on('data', (bytes: Buffer) => {
      stalled ||= swallowed !== undefined && bytes.includes(swallowed);
      if (!stalled) database.write(bytes);
    });
    database.on('data', (bytes: Buffer) => client.write(bytes));
    for (const [socket, other] of [
      [client, database],
      [database, client],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
  });

  async function listen(port: number): Promise<number> {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  }

  async function cut(): Promise<void> {
    const closed = once(server, 'close');
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  }

  const port = await listen(0);
  url.hostname = '127.0.0.1';
  url.port = String(port);
  return {
    url: url.href,
    cut,
    async mend() {
      await listen(port);
    },
    swallow(text) {
      swallowed = text;
    },
    close: () => (server.listening ? cut() : Promise.resolve()),
  };
}

/**
 * A pooler between clients and PostgreSQL, as PgBouncer in transaction mode: all clients share one session of the
 * database, each for the time of a transaction. It asks its clients for no password.
 */
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import pg from 'pg';
import { listenHere } from '../service/free-port.ts';

const SSL_REQUEST = 80_877_103;
const READY = Buffer.from([0x5a, 0, 0, 0, 5, 0x49]);
const WELCOME = Buffer.concat([Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0]), READY]);
const ROLLBACK = Buffer.concat([Buffer.from([0x51, 0, 0, 0, 13]), Buffer.from('rollback\0')]);

interface Waiting {
  socket: Socket;
  bytes: Buffer;
}

/** Pool the database of `url`. Returns the address of the pooler. */
export async function startTransactionPooler(url: string): Promise<{ url: string; close(): Promise<void> }> {
  const session = new pg.Client({ connectionString: url });
  session.on('error', () => undefined);
  await session.connect();
  const { stream: server } = (session as unknown as { connection: { stream: Socket } }).connection;
  server.removeAllListeners('data');
  let owner: Socket | undefined;
  const queue: Waiting[] = [];

  function next(): void {
    const waiting = queue.shift();
    if (waiting === undefined) return;
    owner = waiting.socket;
    server.write(waiting.bytes);
  }

  let left = Buffer.alloc(0);
  server.on('data', (chunk: Buffer) => {
    left = Buffer.concat([left, chunk]);
    while (left.length >= 5 && left.length >= 1 + left.readUInt32BE(1)) {
      const message = left.subarray(0, 1 + left.readUInt32BE(1));
      left = left.subarray(message.length);
      if (owner?.writable === true) owner.write(message);
      if (!message.equals(READY)) continue;
      owner = undefined;
      next();
    }
  });

  const sockets = new Set<Socket>();
  const listener = createServer((socket) => {
    sockets.add(socket);
    let welcome = false;
    socket.on('data', (bytes: Buffer) => {
      if (!welcome) {
        if (bytes.readUInt32BE(4) === SSL_REQUEST) return void socket.write('N');
        welcome = true;
        return void socket.write(WELCOME);
      }
      if (bytes[0] === 0x58) return void socket.end();
      if (owner === socket) server.write(bytes);
      else queue.push({ socket, bytes });
      if (owner === undefined) next();
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      sockets.delete(socket);
      if (owner === socket) server.write(ROLLBACK);
    });
  });
  const pooled = new URL(url);
  pooled.host = `127.0.0.1:${await listenHere(listener)}`;
  return {
    url: pooled.href,
    async close() {
      for (const socket of sockets) socket.destroy();
      listener.close();
      server.destroy();
      await once(listener, 'close');
    },
  };
}

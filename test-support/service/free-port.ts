/** Servers on the loopback address. */
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';

/**
 * Below the ports that systems give to all programs (from 32768 up; RFC 6335: from 49152), and below those that an embedded
 * PostgreSQL takes (from 20000 up): nobody else takes one of these before the test does.
 */
const FIRST_PORT = 10_100;
const PORTS_OF_WORKER = 1_900;
/** `node --test` numbers the processes that run at the same time, from 1. Each has ports of its own. */
const WORKERS = 5;
const firstOfWorker = FIRST_PORT + (Number(process.env.NODE_TEST_WORKER_ID ?? 0) % WORKERS) * PORTS_OF_WORKER;
let taken = randomInt(PORTS_OF_WORKER);

/** Has the server listen, on any port that is free unless one is given. Returns the port. */
export async function listenHere(server: Server, port = 0): Promise<number> {
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** A port that nobody listens on now, and that no other test gets while this one uses it, stops, and uses it again. */
export async function freePort(): Promise<number> {
  for (;;) {
    taken = (taken + 1) % PORTS_OF_WORKER;
    const probe = createServer();
    const port = await listenHere(probe, firstOfWorker + taken).catch(() => undefined);
    if (port === undefined) continue;
    probe.close();
    await once(probe, 'close');
    return port;
  }
}

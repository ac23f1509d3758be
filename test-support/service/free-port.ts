/** Servers on the loopback address. */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';

/** Has the server listen, on any port that is free unless one is given. Returns the port. */
export async function listenHere(server: Server, port = 0): Promise<number> {
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** A port that nobody listens on now. */
export async function freePort(): Promise<number> {
  const probe = createServer();
  const port = await listenHere(probe);
  probe.close();
  await once(probe, 'close');
  return port;
}

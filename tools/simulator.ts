/** What the simulated servers share: they listen on this machine until they are stopped. */
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { toolError } from './errors.ts';

/** The port of `--port`; 0 is any that is free. Throws `bad_port`. */
export function portOf(text: string): number {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw toolError('bad_port');
  return port;
}

/** Serve until SIGINT or SIGTERM. `onListening` is told the address once it listens. */
export async function serveUntilStopped(
  server: Server,
  port: number,
  onListening: (address: string) => void,
): Promise<void> {
  server.listen(port, '127.0.0.1');
  await once(server, 'listening').catch(({ code }: NodeJS.ErrnoException) => {
    throw toolError('port_not_free', { port, code });
  });
  onListening(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
  server.closeAllConnections();
  server.close();
}

/** What the simulated servers share: they listen on this machine until they are stopped. */
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CommandError, UsageError } from '../src/platform/command/command.ts';

/** The port of `--port`; 0 is any that is free. Throws UsageError. */
export function portOf(text: string): number {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new UsageError('--port must be from 0 to 65535.');
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
    throw new CommandError(
      `The simulator cannot listen on port ${port} (${code}). Choose another port with --port, and the same port in the address of the connection or target.`,
    );
  });
  onListening(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
  server.closeAllConnections();
  server.close();
}

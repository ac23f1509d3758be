/** The port of a server that is stopped and started again. */
import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * A port that nobody listens on now. Systems give away ports from 32768 up (RFC 6335: from 49152): to the connections of
 * all programs, and to a server that asks for any port. One of them could be taken while the server is stopped.
 */
export async function lastingPort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 30_000);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' || error.code === 'EACCES' ? resolve(false) : reject(error),
    );
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

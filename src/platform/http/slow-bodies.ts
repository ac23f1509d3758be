/**
 * Connections whose request may take longer than `server.requestTimeout`: their route ends bodies that are
 * too slow.
 * Contract: IN-28.
 */
import type { Duplex } from 'node:stream';

const slow = new WeakSet<Duplex>();

/** From now on the route sees to the pace of the body on this connection, until the function returned is called. */
export function takeSlowBody(socket: Duplex): () => void {
  slow.add(socket);
  return () => void slow.delete(socket);
}

/** Node.js tells once that a request is not complete in time, and leaves it to us to end the connection. */
export function isSlowBody(error: { code?: string }, socket: Duplex): boolean {
  return error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && slow.has(socket);
}

/**
 * Connections whose request may take longer than `server.requestTimeout`: their route ends bodies that are
 * too slow.
 * Contract: IN-28.
 */
import type { Duplex } from 'node:stream';

const slow = new WeakSet<Duplex>();

/** From now on the route watches how fast the body on this connection arrives. Call what is returned to end that. */
export function takeSlowBody(socket: Duplex): () => void {
  slow.add(socket);
  return () => void slow.delete(socket);
}

/** Node.js tells once that a request is not complete in time, and leaves it to us to end the connection. */
export function isSlowBody(error: { code?: string }, socket: Duplex): boolean {
  return error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && slow.has(socket);
}

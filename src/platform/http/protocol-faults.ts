/** What Node.js would answer by itself, or not at all: faults of HTTP, answered in the one error shape. */
import { randomUUID } from 'node:crypto';
import type { Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { errorBody } from './errors.ts';

/** Expectations that nobody can meet (RFC 9110 section 10.1.1), and requests for a tunnel. */
export function answerProtocolFaults(server: Server): void {
  server.on('checkExpectation', (request, response) => {
    request.unpipe();
    response.shouldKeepAlive = false;
    const { body, ...headers } = fault(417, 'The expectation in the header Expect cannot be met.');
    response.writeHead(417, headers).end(body);
  });
  server.on('connect', (_request, socket) => answerAndClose(socket, 405, 'This is no proxy.'));
}

/** A request that is not HTTP, has too many headers or never ends. */
export function answerBrokenRequest(error: Error & { code?: string }, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const status =
    error.code === 'HPE_HEADER_OVERFLOW' ? 431 : error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400;
  answerAndClose(socket, status, 'The request is not valid HTTP.');
}

function answerAndClose(socket: Duplex, status: number, message: string): void {
  const { body, ...headers } = fault(status, message);
  const lines = Object.entries({ ...headers, connection: 'close' }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  socket.on('error', () => undefined);
  socket.end(`HTTP/1.1 ${status} ${errorBody(status, message).error}\r\n${lines.join('')}\r\n${body}`);
}

function fault(status: number, message: string): Record<string, string> & { body: string } {
  const body = JSON.stringify(errorBody(status, message));
  return {
    body,
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'x-correlation-id': randomUUID(),
    'content-length': String(Buffer.byteLength(body)),
  };
}

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { cpuMs } from '../../../test-support/cpu-time.ts';
import { parseAnswers } from '../../../test-support/http/raw-http.ts';
import { listenHere } from '../../../test-support/service/free-port.ts';
import { createLog } from '../log/log.ts';
import { createMetrics } from '../metrics/metrics.ts';
import { createAllowedMethods } from './allowed-methods.ts';
import { createFaultAnswers } from './protocol-faults.ts';
import { createServer as createServiceServer } from './server.ts';

test('a request that does not arrive in time is 408, and says what to do [HTTP-17]', async () => {
  const server = createServer(
    { headersTimeout: 500, requestTimeout: 500, connectionsCheckingInterval: 10 },
    (request, response) => request.resume().on('end', () => response.end()),
  );
  const faults = createFaultAnswers(createAllowedMethods());
  faults.attach(server);
  server.on('clientError', faults.answerBroken);
  const port = await listenHere(server);
  try {
    for (const beginning of [
      'GET / HTTP/1.1\r\nhost: x\r\nx-slow: ',
      'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\n{',
    ]) {
      const socket = connect(port, '127.0.0.1');
      const chunks: Buffer[] = [];
      socket.on('data', (chunk: Buffer) => chunks.push(chunk));
      socket.write(beginning);
      await once(socket, 'close');
      const [answer] = parseAnswers(Buffer.concat(chunks));
      assert.equal(answer?.status, 408);
      assert.match(JSON.parse(String(answer?.body)).message, /in time.*Send it again/);
    }
  } finally {
    server.close();
  }
});

test('a body that stops on its way is answered before its connection is quiet for too long [HTTP-17]', () => {
  const { server } = createServiceServer({ log: createLog('silent'), metrics: createMetrics() });
  // Node.js looks for late requests at intervals.
  const { timeout, requestTimeout, connectionsCheckingInterval } = server as typeof server & {
    connectionsCheckingInterval: number;
  };
  assert.ok(timeout > requestTimeout + connectionsCheckingInterval);
});

test('a quiet connection is ended, but for one that waits for our answer [HTTP-24]', async () => {
  const answers: Record<string, (response: ServerResponse) => unknown> = {
    // Once the connection was quiet for too long. The time begins here, so that a slow machine does not end it before.
    '/slow': (response) => {
      server.once('timeout', () => response.end('done'));
      response.socket?.setTimeout(50);
    },
    '/large': (response) => response.end(Buffer.alloc(50_000_000)),
  };
  const server: Server = createServer((request, response) => answers[request.url ?? '']?.(response));
  createFaultAnswers(createAllowedMethods()).attach(server);
  const port = await listenHere(server);
  try {
    const slow = await fetch(`http://127.0.0.1:${port}/slow`);
    assert.equal(await slow.text(), 'done');
    server.timeout = 50;
    for (const beginning of [
      '',
      'GET /slow HTTP/1.1\r\nhost: x\r\n',
      'GET /large HTTP/1.1\r\nhost: x\r\n\r\n',
    ]) {
      const ended = once(server, 'connection').then(([socket]) => once(socket, 'close'));
      // Not read, so that an answer stays on its way.
      const client = connect(port, '127.0.0.1').on('error', () => undefined);
      client.write(beginning);
      await ended;
      client.destroy();
    }
  } finally {
    server.close();
  }
});

test('a connection that is reset between a good request and the answer to its CONNECT ends by itself alone [HTTP-19]', async () => {
  const held = Promise.withResolvers<ServerResponse>();
  const server: Server = createServer((_request, response) => held.resolve(response));
  createFaultAnswers(createAllowedMethods()).attach(server);
  const port = await listenHere(server);
  try {
    const client = connect(port, '127.0.0.1');
    const connected = once(server, 'connect');
    client.write('GET / HTTP/1.1\r\nhost: x\r\n\r\nCONNECT a:1 HTTP/1.1\r\nhost: a:1\r\n\r\n');
    const [, socket] = await connected;
    // once() would listen for errors, too.
    const closed = new Promise((resolve) => (socket as Socket).once('close', resolve));
    client.resetAndDestroy();
    await closed;
    (await held.promise).end();
  } finally {
    server.close();
  }
});

test('a packet that is full of one word before an unknown method is looked at in linear time [HTTP-12]', async () => {
  const allowed = createAllowedMethods();
  allowed.add('GET', '/a');
  const faults = createFaultAnswers(allowed);
  // As much as a socket gives at once: the body of a request before it, and the beginning of the method.
  const before = `${'a'.repeat(65_000)} Q`;
  const socket = new PassThrough();
  const broken = {
    code: 'HPE_INVALID_METHOD',
    rawPacket: Buffer.from(`${before}X /a HTTP/1.1\r\n\r\n`),
    bytesParsed: before.length,
  };
  assert.ok((await cpuMs(() => faults.answerBroken(broken, socket))) < 1_000);
  const [answer] = parseAnswers(socket.read());
  assert.equal(answer?.status, 405);
  assert.equal(answer?.headers.allow, 'GET');
});

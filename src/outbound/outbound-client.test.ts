import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { listenHere } from '../../test-support/service/free-port.ts';
import { waitUntil } from '../../test-support/wait-until.ts';
import { createOutboundClient, isUntrusted, NOT_WRITTEN, type OutboundClient } from './outbound-client.ts';

test('what is wrong with a certificate or with TLS is told from what may pass', () => {
  const untrusted = [
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
    'UNABLE_TO_GET_CRL',
    'UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY',
    'DEPTH_ZERO_SELF_SIGNED_CERT',
    'CERT_HAS_EXPIRED',
    'INVALID_CA',
    'INVALID_PURPOSE',
    'PATH_LENGTH_EXCEEDED',
    'HOSTNAME_MISMATCH',
    'ERR_TLS_CERT_ALTNAME_INVALID',
    'ERR_SSL_WRONG_VERSION_NUMBER',
  ];
  for (const code of untrusted) assert.ok(isUntrusted(code), code);
  for (const code of ['ECONNRESET', 'ECONNREFUSED', 'EPIPE', 'TIMEOUT', 'TRUNCATED', 'ENOTFOUND', 'FAILED'])
    assert.ok(!isUntrusted(code), code);
});

test('a request may have less time than the client; connecting and the whole answer are in it', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const server = createHttpServer((_, response) => {
    response.writeHead(200);
    response.write('the answer begins, and never ends');
  });
  const address = `http://127.0.0.1:${await listenHere(server)}`;
  const limits = { reach: 'operator', maxInFlight: 1, timeoutMs: 600_000, maxResponseBytes: 1_000 } as const;
  const client = createOutboundClient(address, limits);
  const begun = once(server, 'request');
  const answer = client.send({ method: 'GET', path: '/', headers: {}, timeoutMs: 100 });
  await begun;
  t.mock.timers.tick(100);
  assert.deepEqual(await answer, { kind: 'unanswered', code: 'TIMEOUT', reached: true });
  client.close();
  server.closeAllConnections();
  server.close();
});

test('a request is not at the server before TLS stands [EXC-22]', async () => {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.resetAndDestroy());
  });
  const port = await listenHere(server);
  const limits = { reach: 'operator', maxInFlight: 1, timeoutMs: 5_000, maxResponseBytes: 100 } as const;
  const client = createOutboundClient(`https://127.0.0.1:${port}`, limits);
  const answer = await client.send({ method: 'POST', path: '/', headers: {}, body: '{}' });
  assert.deepEqual(answer, { kind: 'unanswered', code: 'ECONNRESET', reached: false });
  client.close();
  server.close();
});

describe('a connection', () => {
  let server: Server;
  let client: OutboundClient;
  let sockets: Socket[];
  let onRequest: (socket: Socket) => void;
  beforeEach(async () => {
    sockets = [];
    server = createServer((socket) => {
      sockets.push(socket);
      socket.on('error', () => undefined);
      socket.on('data', () => onRequest(socket));
    });
    const port = await listenHere(server);
    const limits = { reach: 'operator', maxInFlight: 1, timeoutMs: 5_000, maxResponseBytes: 100 } as const;
    client = createOutboundClient(`http://127.0.0.1:${port}`, limits);
  });
  afterEach(() => {
    client.close();
    server.close();
    for (const socket of sockets) socket.destroy();
  });

  test('is not kept for a request that the server answered and does not read to its end', async () => {
    onRequest = (socket) => {
      socket.pause();
      socket.write('HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\n\r\n');
    };
    // More than the buffers of a connection hold.
    const body = 'x'.repeat(50_000_000);
    for (const time of ['first', 'second']) {
      const headers = { 'content-length': body.length };
      const answer = await client.send({ method: 'PUT', path: '/', headers, body });
      assert.equal(answer.kind === 'answered' && answer.status, 413, time);
    }
  });

  test('that stands after its request was given up is used by the next one [EXC-22]', async () => {
    onRequest = () => undefined;
    const send = (timeoutMs?: number) => client.send({ method: 'GET', path: '/', headers: {}, timeoutMs });
    // The second waits for the connection of the first. Both are given up.
    const given = await Promise.all([send(300), send(200)]);
    assert.deepEqual(
      given.map(({ kind }) => kind),
      ['unanswered', 'unanswered'],
    );
    await waitUntil(() => sockets.length === 2, 'Node.js connects for the second all the same');
    onRequest = (socket) => socket.write('HTTP/1.1 204 No Content\r\n\r\n');
    const answer = await send();
    assert.equal(answer.kind === 'answered' && answer.status, 204);
  });
});

describe('an answer with more than it says', () => {
  const cases: [what: string, answer: string, status: number][] = [
    ['a body after 204', 'HTTP/1.1 204 No Content\r\nContent-Length: 3\r\n\r\nabc', 204],
    ['a body longer than its length', 'HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcdef', 200],
    ['bytes after 101', 'HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\nabc', 101],
  ];
  for (const [what, text, status] of cases)
    test(`counts as it is: ${what}`, async () => {
      const server = createServer((socket) => {
        socket.on('data', () => socket.write(text));
        socket.on('error', () => undefined);
      });
      const port = await listenHere(server);
      const limits = { reach: 'operator', maxInFlight: 1, timeoutMs: 5_000, maxResponseBytes: 100 } as const;
      const client = createOutboundClient(`http://127.0.0.1:${port}`, limits);
      for (const time of ['first', 'second']) {
        const answer = await client.send({ method: 'GET', path: '/', headers: {} });
        assert.equal(answer.kind === 'answered' && answer.status, status, time);
      }
      client.close();
      server.close();
    });
});

describe('a request that is asked about before it is written', () => {
  let server: Server;
  let received: string;
  let connections: number;
  let client: OutboundClient;

  beforeEach(async () => {
    received = '';
    connections = 0;
    server = createServer((socket) => {
      connections += 1;
      socket.on('data', (chunk: Buffer) => {
        received += chunk.toString();
        if (received.endsWith('{}')) socket.write('HTTP/1.1 204 No Content\r\n\r\n');
      });
      socket.on('error', () => undefined);
    });
    const port = await listenHere(server);
    const limits = { reach: 'operator', maxInFlight: 1, timeoutMs: 5_000, maxResponseBytes: 100 } as const;
    client = createOutboundClient(`http://127.0.0.1:${port}/in`, limits);
  });
  afterEach(() => {
    client.close();
    server.close();
  });
  const send = (mayWrite: () => Promise<boolean>) =>
    client.send({ method: 'POST', path: '/in', headers: { 'content-length': 2 }, body: '{}', mayWrite });

  test('is asked about once the connection stands, and written when it may be; also on a kept connection', async () => {
    for (const kept of [false, true]) {
      received = '';
      const answer = await send(async () => {
        assert.equal(received, '');
        return true;
      });
      assert.equal(answer.kind === 'answered' && answer.status, 204, `kept: ${kept}`);
    }
    assert.equal(connections, 1);
  });

  test('is written when it waited for the connection of another request', async () => {
    server.removeAllListeners('connection');
    server.on('connection', (socket) => {
      socket.on('data', () => socket.write('HTTP/1.1 204 No Content\r\n\r\n'));
      socket.on('error', () => undefined);
    });
    const answers = await Promise.all([1, 2, 3].map(() => send(async () => true)));
    assert.deepEqual(
      answers.map((answer) => answer.kind === 'answered' && answer.status),
      [204, 204, 204],
    );
  });

  const kept: [what: string, happens: (socket?: Socket) => void][] = [
    ['ends', (socket) => socket?.end()],
    ['is reset', (socket) => socket?.resetAndDestroy()],
    ['brings a second answer', (socket) => socket?.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')],
  ];
  for (const [what, happens] of kept)
    test(`goes over a new connection when the kept one ${what} before it is written [EXC-20]`, async () => {
      const first = once(server, 'connection') as Promise<Socket[]>;
      await send(async () => true);
      const [socket] = await first;
      received = '';
      let asked = 0;
      const answer = await send(() => {
        asked += 1;
        if (asked > 1) return Promise.resolve(true);
        happens(socket);
        return new Promise(() => undefined);
      });
      assert.equal(answer.kind === 'answered' && answer.status, 204);
      assert.deepEqual([asked, connections, received.match(/POST/g)?.length], [2, 2, 1]);
    });

  test('goes over a new connection when the one that was handed on to it ends before it is written [EXC-20]', async () => {
    const first = once(server, 'connection') as Promise<Socket[]>;
    let asked = 0;
    const [, answer] = await Promise.all([
      send(async () => true),
      send(async () => {
        asked += 1;
        if (asked > 1) return true;
        const [socket] = await first;
        socket?.end();
        return new Promise(() => undefined);
      }),
    ]);
    assert.equal(answer.kind === 'answered' && answer.status, 204);
    assert.deepEqual([asked, connections, received.match(/POST/g)?.length], [2, 2, 2]);
  });

  for (const unasked of [
    'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n',
    'HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n',
  ])
    test(`is not answered by what comes on a new connection before it is written: ${unasked.slice(9, 12)}`, async () => {
      server.on('connection', (socket: Socket) => socket.write(unasked));
      const answer = await send(() => new Promise(() => undefined));
      assert.deepEqual(answer, { kind: 'unanswered', code: 'UNASKED', reached: false });
      assert.equal(received, '');
    });

  test('leaves no byte on the connection when it may not be', async () => {
    const closed = Promise.withResolvers<void>();
    server.once('connection', (socket) => socket.once('close', () => closed.resolve()));
    const answer = await send(async () => false);
    assert.deepEqual(answer, { kind: 'unanswered', code: NOT_WRITTEN, reached: false });
    await closed.promise;
    assert.equal(received, '');
  });

  test('is not written when its connection stands too late, whether or not somebody asks [PUB-32]', async (t) => {
    // As after a time in which the process stood still: it sees the connection before its timers.
    t.mock.timers.enable({ apis: ['setTimeout'] });
    for (const mayWrite of [undefined, async () => true]) {
      const request = { method: 'PUT', path: '/in', headers: { 'content-length': 2 }, body: '{}', mayWrite };
      const answer = await client.send({ ...request, timeoutMs: Number.MIN_VALUE });
      assert.deepEqual(answer, { kind: 'unanswered', code: NOT_WRITTEN, reached: false });
    }
    assert.equal(received, '');
  });

  test('is not written when the question cannot be answered', async () => {
    const answer = await send(() => Promise.reject(new Error('the database is down')));
    assert.equal(answer.kind === 'unanswered' && answer.code, 'FAILED');
    assert.equal(received, '');
  });

  test('says nothing of the server when nobody said in time whether it may be written [EXC-22]', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const asked = Promise.withResolvers<void>();
    const answer = send(() => {
      asked.resolve();
      return new Promise(() => undefined);
    });
    await asked.promise;
    t.mock.timers.tick(5_000);
    assert.deepEqual(await answer, { kind: 'unanswered', code: NOT_WRITTEN, reached: false });
    assert.equal(received, '');
  });
});

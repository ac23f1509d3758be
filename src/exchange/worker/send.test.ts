import assert from 'node:assert/strict';
import { hash, randomUUID } from 'node:crypto';
import dns from 'node:dns';
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { syncBuiltinESMExports } from 'node:module';
import { createServer as createNetServer } from 'node:net';
import { afterEach, describe, mock, test } from 'node:test';
import { listenHere } from '../../../test-support/service/free-port.ts';
import { guardedLookup } from '../../outbound/outbound-address.ts';
import { createSender, type DeliveryAnswer, type Sender, type SignedPost } from './send.ts';

const open: (Server | Sender)[] = [];
afterEach(() => {
  for (const one of open.splice(0)) {
    if ('closeAllConnections' in one) one.closeAllConnections();
    one.close();
  }
});

async function listen(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  open.push(server);
  return `http://127.0.0.1:${await listenHere(server)}`;
}

/** More than a busy machine takes for an answer. */
const LONG_MS = 30_000;
/** For what is not answered. */
const SHORT_MS = 1_000;
const LIMITS = { clientId: 'test-client', maxInFlight: 2, timeoutMs: LONG_MS, reach: 'operator' } as const;

function signed(body = '{}'): SignedPost {
  return { body, deliveryId: randomUUID(), nonce: randomUUID(), time: new Date(), secret: 'a secret' };
}

function post(address: string, body = '{}', timeoutMs = LONG_MS): Promise<DeliveryAnswer> {
  const sender = createSender(address, { ...LIMITS, timeoutMs });
  open.push(sender);
  return sender.post(signed(body));
}

describe('a sent request', () => {
  test('carries the bytes, the path and the query as they are, and tells the hash of the answer', async () => {
    let seen = '';
    const address = await listen((request, response) => {
      request.on('data', (chunk) => {
        seen += chunk;
      });
      request.on('end', () => response.writeHead(201, { 'retry-after': '7' }).end(`${request.url} Zoë`));
    });
    const answer = await post(`${address}/a%20b?z=1&a=%7e`, '{"name":"Zoë"}');
    assert.equal(seen, '{"name":"Zoë"}');
    assert.deepEqual(answer, {
      kind: 'answered',
      status: 201,
      retryAfterMs: 7_000,
      responseHash: hash('sha256', '/a%20b?z=1&a=%7e Zoë', 'buffer'),
    });
  });

  test('is not sent on by a redirect [SEC-26]', async () => {
    let requests = 0;
    const address = await listen((_request, response) => {
      requests += 1;
      response.writeHead(302, { location: '/elsewhere' }).end();
    });
    const answer = await post(address);
    assert.deepEqual(
      [answer.kind, answer.kind === 'answered' && answer.status, requests],
      ['answered', 302, 1],
    );
  });

  test('ends after its time-out, before the answer and in the middle of it [SEC-28]', async () => {
    const silent = await listen(() => undefined);
    assert.deepEqual(await post(silent, '{}', SHORT_MS), {
      kind: 'unanswered',
      code: 'TIMEOUT',
      reached: true,
    });
    const dripping = await listen((_request, response) => void response.writeHead(200).write('{'));
    assert.deepEqual(await post(dripping, '{}', SHORT_MS), {
      kind: 'unanswered',
      code: 'TIMEOUT',
      reached: true,
    });
  });

  test('tells an exchange that cannot be reached from one that fails', async () => {
    const gone = await listen(() => undefined);
    for (const server of open.splice(0)) server.close();
    assert.deepEqual(await post(gone), { kind: 'unanswered', code: 'ECONNREFUSED', reached: false });
    const dropping = await listen((request) => request.socket.destroy());
    assert.deepEqual(await post(dropping), { kind: 'unanswered', code: 'ECONNRESET', reached: true });
    const breaking = await listen((_request, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('{', () => response.destroy());
    });
    assert.deepEqual(await post(breaking), { kind: 'unanswered', code: 'TRUNCATED', reached: true });
    const unknown = await post('https://does-not-exist.invalid/', '{}', SHORT_MS);
    assert.deepEqual([unknown.kind, unknown.kind === 'unanswered' && unknown.reached], ['unanswered', false]);
  });

  test('reads no more than a megabyte of the answer [SEC-28]', async () => {
    const address = await listen((_request, response) => {
      response.writeHead(200);
      const more = () => {
        while (response.write('x'.repeat(65_536)));
        response.once('drain', more);
      };
      more();
    });
    const answer = await post(address);
    assert.deepEqual([answer.kind, answer.kind === 'answered' && answer.status], ['answered', 200]);
  });

  test('goes to no address that a name resolves to and that is refused', async () => {
    const lookup = (plainHttp: boolean, host: string) =>
      new Promise<string | undefined>((resolve) =>
        guardedLookup(plainHttp, 'operator')(host, { all: true }, (error) =>
          resolve((error as { code?: string } | null)?.code),
        ),
      );
    assert.equal(await lookup(false, '169.254.169.254'), 'address_refused');
    assert.equal(await lookup(false, 'fe80::1'), 'address_refused');
    assert.equal(await lookup(false, '0.0.0.0'), 'address_refused');
    assert.equal(await lookup(true, '10.1.2.3'), 'address_refused', 'plain http stays on this machine');
    assert.equal(await lookup(false, '10.1.2.3'), undefined);
    assert.equal(await lookup(true, '127.0.0.1'), undefined);
  });

  test('goes to no name that is moved inside after its address was set over HTTP', async () => {
    let connections = 0;
    const server = createNetServer(() => {
      connections += 1;
    });
    const port = await listenHere(server);
    const resolved = mock.method(dns, 'lookup', ((_name, _options, found) =>
      found(null, [{ address: '127.0.0.1', family: 4 }] as never, 4)) as typeof dns.lookup);
    syncBuiltinESMExports();
    try {
      for (const reach of ['public', 'operator'] as const) {
        const sender = createSender(`https://hie.example.org:${port}/in`, {
          ...LIMITS,
          timeoutMs: SHORT_MS,
          reach,
        });
        open.push(sender);
        const answer = await sender.post(signed());
        assert.equal(answer.kind === 'unanswered' && answer.code === 'address_refused', reach === 'public');
        assert.equal(connections, reach === 'public' ? 0 : 1);
      }
    } finally {
      resolved.mock.restore();
      syncBuiltinESMExports();
      server.close();
    }
  });

  test('shares one look-up of a name with others that wait for it, which name servers may not answer [EXC-23]', async () => {
    const lookups: ((error: Error) => void)[] = [];
    const resolved = mock.method(
      dns,
      'lookup',
      ((_name, _options, found) => void lookups.push(found as never)) as typeof dns.lookup,
    );
    syncBuiltinESMExports();
    try {
      const sender = createSender('https://hie.example.org/in', { ...LIMITS, timeoutMs: 50 });
      open.push(sender);
      const timeOut = { kind: 'unanswered', code: 'TIMEOUT', reached: false };
      assert.deepEqual(await Promise.all([sender.post(signed()), sender.post(signed())]), [timeOut, timeOut]);
      assert.deepEqual(await sender.post(signed()), timeOut);
      assert.equal(lookups.length, 1);
      lookups[0]?.(new Error('no such name'));
      assert.deepEqual(await sender.post(signed()), timeOut);
      assert.equal(lookups.length, 2, 'what was found is not kept');
    } finally {
      resolved.mock.restore();
      syncBuiltinESMExports();
    }
  });

  test('is answered after longer than a connection may be idle', async () => {
    const address = await listen((_request, response) => void setTimeout(() => response.end('{}'), 4_500));
    const answer = await post(address);
    assert.equal(answer.kind, 'answered');
  });

  test('keeps requests that are under way when the sender is closed', async () => {
    const { promise: arrived, resolve: arrive } = Promise.withResolvers<ServerResponse>();
    const address = await listen((_request, response) => arrive(response));
    const sender = createSender(address, LIMITS);
    const answer = sender.post(signed());
    const response = await arrived;
    sender.close();
    response.end('{}');
    assert.equal((await answer).kind, 'answered');
  });
});

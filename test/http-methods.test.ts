/** Methods, body encodings and broken requests: every answer is in the one shape and says what to do. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import {
  exchangeBytes,
  parseAnswers,
  type RawAnswer,
  type RawRequest,
  requestBytes,
  sendRaw,
} from '../test-support/http/raw-http.ts';
import { type RegisteredRoute, rawSampleRequest } from '../test-support/http/route-requests.ts';
import { seedRecords } from '../test-support/records/seed-tenant.ts';
import { useTestApi } from '../test-support/service/use-api.ts';

/** Headers that differ from one answer to the next. */
const OWN = new Set(['date', 'x-correlation-id', 'connection', 'keep-alive']);

const { api, tenant, account } = await useTestApi();
const seeds = await seedRecords(api.database.pool, tenant);
const port = Number(new URL(api.origin).port);

const send = (request: RawRequest): Promise<RawAnswer> => sendRaw(port, request);
const rawSample = (entry: RegisteredRoute) => rawSampleRequest(entry, seeds, account.token);

function messageOf({ status, headers, body }: RawAnswer, expected: number): string {
  assert.equal(status, expected, `${status}: ${body}`);
  assert.match(headers['content-type'] ?? '', /^application\/json/);
  assert.ok(headers['x-correlation-id']);
  assert.equal(headers['cache-control'], 'no-store');
  const document = JSON.parse(body.toString());
  assert.deepEqual(Object.keys(document), ['statusCode', 'message', 'error']);
  assert.equal(document.statusCode, expected);
  return document.message;
}

const comparable = ({ headers }: RawAnswer) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !OWN.has(name)));

test('a target with scheme and host is answered as its path is [HTTP-34]', async () => {
  const path = `/api/v1/patients/base/${seeds.patientId}?purposeOfUse=TREATMENT`;
  const get = (target: string, headers = {}) => send({ method: 'GET', target, headers });
  const authorization = { authorization: `Bearer ${account.token}` };
  const plain = await get(path, authorization);
  assert.equal(plain.status, 200);
  for (const origin of ['http://localhost', 'HTTPS://other.example:8443', 'http://user@[::1]:80']) {
    const answer = await get(origin + path, authorization);
    assert.deepEqual([answer.status, answer.body], [plain.status, plain.body], origin);
  }
  const browser = { accept: 'text/html' };
  assert.equal(
    (await get('http://localhost', browser)).headers.location,
    (await get('/', browser)).headers.location,
  );
  assert.equal((await get('http://localhost?a=1', browser)).status, 303);
  for (const target of ['http://', 'ftp://localhost/', `localhost${path}`])
    assert.ok([400, 404].includes((await get(target, authorization)).status), target);
});

test('a Host that is no host is 400 on every path, and any that is one is taken [HTTP-20]', async () => {
  const get = (target: string, host: string) => send({ method: 'GET', target, headers: { host } });
  for (const target of ['/healthz', '/api/v1/patients/base', '/nope', '/api/v1/%zz'])
    for (const host of [
      'a/b',
      'user@host',
      'a b',
      'a, b',
      '[::1',
      'host:port',
      'http://host',
      'a?b',
      'a#b',
      'é',
    ]) {
      const answer = await get(target, host);
      assert.equal(messageOf(answer, 400), 'The header Host holds no host. Send it as host or host:port.');
      assert.equal(answer.headers.connection, 'close');
    }
  for (const host of [
    '',
    'x',
    'a_b.example.org:443',
    'x:',
    '127.0.0.1:3000',
    '[::1]:80',
    '[fe80::1%25en0]',
    'a%2Db',
  ])
    assert.equal((await get('/healthz', host)).status, 200, host);
});

test('CONNECT is 405, with the methods that the service takes', async () => {
  const answer = await send({ method: 'CONNECT', target: 'localhost:1', headers: {} });
  assert.equal(messageOf(answer, 405), 'This server is no proxy. Send the request itself.');
  assert.equal(answer.headers.allow, 'DELETE, GET, HEAD, PATCH, POST, PUT');
});

test('an address that ends where an id should stand is an unknown path, for whoever asks [HTTP-9]', async () => {
  for (const path of ['/patients/base/', '/encounters/fhir/Encounter/?patient=x', '/exchange/deliveries/'])
    for (const headers of [{}, { authorization: `Bearer ${account.token}` }]) {
      const answer = await send({ method: 'GET', target: `/api/v1${path}`, headers });
      assert.match(
        messageOf(answer, 404),
        /^There is no such path\. .*(None|no path) ends in a slash\./,
        path,
      );
    }
});

describe('HEAD', () => {
  test('answers wherever GET does: the same status and headers, and no body [HTTP-13]', async () => {
    const targets = api.api.routes.filter(({ method }) => method === 'GET').map(rawSample);
    const others = ['/healthz', '/readyz', '/metrics', '/api/v1/docs', '/api/v1/docs/json', '/nope'];
    for (const target of others) targets.push({ method: 'GET', target, headers: {} });
    assert.ok(targets.length > 25);
    for (const request of targets) {
      const got = await send(request);
      const bytes = await sendHead(request);
      const [head] = parseAnswers(bytes, { withoutBody: true });
      assert.equal(head?.status, got.status, request.target);
      if (request.target === '/metrics') continue;
      const expected = comparable(got);
      // The length of what is streamed is not known before.
      if (got.headers['transfer-encoding'] === 'chunked') delete expected['transfer-encoding'];
      // Each look at the access log makes it longer.
      if (request.target.includes('/access-log')) delete expected['content-length'];
      const { 'transfer-encoding': _chunked, ...headers } = comparable(head as RawAnswer);
      if (expected['content-length'] === undefined) delete headers['content-length'];
      assert.deepEqual(headers, expected, request.target);
      assert.equal(bytes.indexOf('\r\n\r\n') + 4, bytes.length, `${request.target}: no body`);
    }
  });

  test('is checked and logged like GET [HTTP-13]', async () => {
    const path = `/encounters/fhir/Encounter/${seeds.encounterId}?purposeOfUse=TREATMENT`;
    assert.equal((await api.call(path, { method: 'HEAD' })).status, 401);
    const stranger = await api.createAccount(await api.createTenant());
    assert.equal((await api.call(path, { method: 'HEAD', token: stranger.token })).status, 404);
    const before = await entriesOf(account.userId);
    assert.equal((await api.call(path, { method: 'HEAD', token: account.token })).status, 200);
    assert.equal(await entriesOf(account.userId), before + 1);
  });

  test('of what did not change names no length, as GET does [HTTP-13]', async () => {
    const request: RawRequest = {
      method: 'GET',
      target: `/api/v1/encounters/fhir/Encounter/${seeds.encounterId}?purposeOfUse=TREATMENT`,
      headers: { authorization: `Bearer ${account.token}`, 'if-none-match': '*' },
    };
    const got = await send(request);
    assert.equal(got.status, 304);
    const [head] = parseAnswers(await sendHead(request), { withoutBody: true });
    assert.equal(head?.status, 304);
    assert.deepEqual(comparable(head), comparable(got));
  });

  async function sendHead(request: RawRequest): Promise<Buffer> {
    const socket = connect(port, '127.0.0.1');
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.write(requestBytes({ ...request, method: 'HEAD' }));
    await once(socket, 'close');
    return Buffer.concat(chunks);
  }

  async function entriesOf(accountId: string): Promise<number> {
    const { rows } = await api.database.pool.query<{ n: number }>({
      text: `select count(*)::int as n from access_log where account_id = $1 and action = 'encounter.read'`,
      values: [accountId],
    });
    return rows[0]?.n ?? 0;
  }
});

describe('a method that a path does not take', () => {
  test('is 405 with those that it takes, and 404 where there is no path [HTTP-14]', async () => {
    const id = seeds.patientId;
    const allowed: [string, string][] = [
      ['/api/v1/auth/login', 'POST'],
      ['/api/v1/patients/base', 'GET, HEAD'],
      [`/api/v1/patients/base/${id}?x=/nope`, 'GET, HEAD'],
      [`/api/v1/patients/base/${id}/privacy`, 'GET, HEAD, PUT'],
      ['/api/v1/terminology/maps', 'DELETE, GET, HEAD, PUT'],
      ['/api/v1/terminology/maps/$translate', 'GET, HEAD'],
      ['/api/v1/encounters/fhir/Encounter/_search', 'GET, HEAD, POST'],
      ['/healthz', 'GET, HEAD'],
      // Written in another way that leads to the same route.
      ['/api/v1/%70atients/base', 'GET, HEAD'],
      ['/he%61lthz?x=%', 'GET, HEAD'],
    ];
    // The first four are methods that Node.js knows and nobody here takes; it knows nothing of the others.
    const methods = ['QUERY', 'OPTIONS', 'PROPFIND', 'TRACE', 'FROB', 'GETX', 'get', 'X-1!'];
    for (const method of methods) {
      for (const [target, allow] of allowed) {
        const answer = await send({ method, target, headers: {} });
        assert.match(messageOf(answer, 405), /method/, `${method} ${target}`);
        assert.equal(answer.headers.allow, allow, `${method} ${target}`);
      }
      for (const target of [
        '/nope',
        '/api/v1/nope',
        '/api/v1/patients/base/1/2/3',
        '/',
        '*',
        '/api%2Fv1/auth/login',
        '//%',
      ]) {
        const { status } = await send({ method, target, headers: {} });
        assert.ok(status === 404 || (status === 400 && target === '//%'), `${method} ${target}: ${status}`);
      }
    }
  });

  test('is 405 below the console, too, where GET shows pages [HTTP-14]', async () => {
    for (const [path, allow] of [
      ['/session/password', 'POST'],
      ['/second-factor/totp', 'DELETE, POST'],
      [`/sessions/${seeds.patientId}?x=1`, 'DELETE'],
    ] as const)
      for (const method of ['GET', 'HEAD', 'PUT']) {
        const { status, headers } = await send({ method, target: `/console/api${path}`, headers: {} });
        assert.deepEqual([status, headers.allow], [405, allow], `${method} ${path}`);
      }
    for (const path of ['/session/nope', '/nope', '/session/'])
      messageOf(await send({ method: 'GET', target: `/console/api${path}`, headers: {} }), 404);
  });

  test('is 405 with a body, too [HTTP-14]', async () => {
    const request = { target: '/api/v1/auth/login', headers: {}, body: Buffer.from('{}') };
    for (const method of ['QUERY', 'DELETE', 'FROB']) messageOf(await send({ ...request, method }), 405);
  });

  test('is told from what is no HTTP [HTTP-14]', async () => {
    for (const line of ['FROB', 'FROB /x', 'FROB /x HTTP/2.0', 'F(B /x HTTP/1.1', 'FROB  HTTP/1.1']) {
      const [answer] = await exchangeBytes(port, Buffer.from(`${line}\r\nhost: x\r\n\r\n`));
      assert.ok(answer);
      messageOf(answer, 400);
    }
  });
});

test('a body that is not there at all is 400 and asked for; no content type is blamed', async () => {
  for (const { path, content } of [
    { path: '/auth/login', content: undefined },
    { path: '/auth/login', content: 'application/json' },
    { path: '/exchange/deliveries/replay', content: undefined },
  ]) {
    const headers = {
      authorization: `Bearer ${account.token}`,
      ...(content && { 'content-type': content }),
    };
    const answer = await send({ method: 'POST', target: `/api/v1${path}`, headers });
    assert.equal(messageOf(answer, 400), 'The body is empty. Send a JSON document.', path);
  }
});

test('a content type that is no media type counts as none [HTTP-3]', async () => {
  const taking = api.api.routes.filter(({ route: { schemas } }) => schemas.body && !schemas.bodyMode);
  for (const { headers, ...request } of taking.map(rawSample))
    for (const content of ['json', '/json', 'application/ json', '']) {
      const answer = await send({ ...request, headers: { ...headers, 'content-type': content } });
      assert.match(messageOf(answer, 415), /Send application\/json/, `${request.target}: ${content}`);
    }
  const { token } = await api.createAccount(tenant);
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'json' };
  const logout = { method: 'POST', target: '/api/v1/auth/logout', headers, body: Buffer.from('{}') };
  assert.equal((await send(logout)).status, 204, 'it needs no body');
});

describe('a body with a content encoding', () => {
  const taking = (skipped: readonly string[]) =>
    api.api.routes
      .filter(({ route }) => route.schemas.bodyMode !== 'stream' && !skipped.includes(route.docs.operationId))
      // Publishing takes no body at all.
      .filter(({ path }) => !path.endsWith('/publish-fhir'))
      .map(rawSample)
      .filter(({ body }) => body !== undefined);

  async function sendEncoded(
    { headers, body, ...request }: RawRequest,
    encoding: string,
  ): Promise<RawAnswer> {
    const bytes = encoding === 'identity' ? body : gzipSync(body ?? '');
    return send({ ...request, headers: { ...headers, 'content-encoding': encoding }, body: bytes as Buffer });
  }

  test('is 415 where it is not taken, and says so [HTTP-15]', async () => {
    for (const request of taking(['confirmDelivery']))
      for (const encoding of ['gzip', 'br', 'identity, gzip']) {
        const answer = await sendEncoded(request, encoding);
        assert.match(`${request.target}: ${messageOf(answer, 415)}`, /content encoding/);
        assert.equal(answer.headers['accept-encoding'], 'identity');
      }
  });

  test('is taken when it is none', async () => {
    for (const request of taking(['confirmDelivery', 'logout', 'changePassword']))
      assert.notEqual((await sendEncoded(request, 'identity')).status, 415, request.target);
  });

  test('does not come before the signature of a callback [SEC-18]', async () => {
    const callback = api.api.routes.find(({ route }) => route.docs.operationId === 'confirmDelivery');
    assert.ok(callback);
    messageOf(await sendEncoded(rawSample(callback), 'gzip'), 401);
  });
});

test('a transfer coding besides chunked is 400 on every path, and nothing behind it is answered [HTTP-15]', async () => {
  const body = '2\r\n{}\r\n0\r\n\r\n';
  for (const path of ['/api/v1/auth/verify', '/api/v1/imports/fhir', '/nope'])
    for (const coding of ['gzip, chunked', 'deflate,chunked', 'identity, chunked', 'gzip', 'xchunked']) {
      const head = `POST ${path} HTTP/1.1\r\nhost: x\r\ntransfer-encoding: ${coding}\r\n\r\n`;
      const answers = await exchangeBytes(
        port,
        Buffer.from(`${head}${body}GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n`),
      );
      assert.equal(answers.length, 1);
      assert.match(
        messageOf(answers[0] as RawAnswer, 400),
        /^The service takes no transfer coding but chunked/,
      );
    }
  const old = 'POST /nope HTTP/1.0\r\nconnection: keep-alive\r\ntransfer-encoding: chunked\r\n\r\n';
  const [first, ...others] = await exchangeBytes(
    port,
    Buffer.from(`${old}${body}GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n`),
  );
  assert.match(messageOf(first as RawAnswer, 400), /^HTTP\/1\.0 knows no transfer coding/);
  assert.deepEqual(others, []);
  const chunked = { 'transfer-encoding': 'Chunked', 'content-type': 'application/json' };
  const request = {
    method: 'POST',
    target: '/api/v1/auth/verify',
    headers: chunked,
    body: Buffer.from(body),
  };
  assert.match(messageOf(await send(request), 400), /email is missing/);
});

test('an address that is not ASCII is 400 and says to encode it, as a search for a name with accents needs', async () => {
  // As curl sends what a terminal in UTF-8 or in Latin-1 gives it.
  for (const target of [
    '/api/v1/patients/base?search=Ad\xc3\xa9s',
    '/api/v1/patients/base?search=Ad\xe9s',
    '/\xc3\xa9',
  ]) {
    const answer = await send({ method: 'GET', target, headers: {} });
    assert.equal(
      messageOf(answer, 400),
      'The address has characters that are not ASCII. Percent-encode them as UTF-8.',
    );
    assert.equal(answer.headers.connection, 'close');
  }
});

describe('a request that breaks off', () => {
  test('is 431 with the limit when its headers are too large [HTTP-18]', async () => {
    const bytes = `GET / HTTP/1.1\r\nhost: x\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`;
    const [answer] = await exchangeBytes(port, Buffer.from(bytes));
    assert.match(messageOf(answer as RawAnswer, 431), /16384 bytes.*Send/);
    const many = `GET / HTTP/1.1\r\nhost: x\r\n${'a:\r\n'.repeat(1_001)}\r\n`;
    const [refused] = await exchangeBytes(port, Buffer.from(many));
    assert.match(messageOf(refused as RawAnswer, 431), /1000 headers.*Send/);
  });

  test('does not take the answers to good requests before it along [HTTP-19]', async () => {
    const good = requestBytes({
      method: 'GET',
      target: '/api/v1/patients/base',
      headers: { authorization: `Bearer ${account.token}`, connection: 'keep-alive' },
    });
    const endings: [string, number][] = [
      ['nonsense\r\n\r\n', 400],
      ['FROB /api/v1/auth/login HTTP/1.1\r\nhost: x\r\n\r\n', 405],
      ['GET / HTTP/1.1\r\nhost x\r\n\r\n', 400],
      [`GET / HTTP/1.1\r\nhost: x\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`, 431],
      ['\x16\x03\x01\x02\x00', 400],
      ['CONNECT localhost:1 HTTP/1.1\r\nhost: x\r\n\r\n', 405],
    ];
    for (const [ending, status] of endings) {
      const bytes = Buffer.concat([good, good, good, Buffer.from(ending, 'latin1')]);
      const answers = await exchangeBytes(port, bytes);
      assert.deepEqual(
        answers.map((answer) => answer.status),
        [200, 200, 200, status],
        JSON.stringify(ending.slice(0, 40)),
      );
      messageOf(answers[3] as RawAnswer, status);
    }
  });

  test('does not wait for itself when the garbage is in its own body', async () => {
    const good = requestBytes({
      method: 'GET',
      target: '/api/v1/patients/base',
      headers: { authorization: `Bearer ${account.token}`, connection: 'keep-alive' },
    });
    const broken =
      'POST /api/v1/auth/verify HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n';
    const answers = await exchangeBytes(port, Buffer.concat([good, Buffer.from(broken)]));
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 400],
    );
  });

  test('gets no second answer when it was refused before its body broke off', async () => {
    const head = 'POST /api/v1/imports/fhir HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n';
    const socket = connect(port, '127.0.0.1');
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    const closed = once(socket, 'close');
    socket.write(`${head}2\r\n{}\r\n`);
    await once(socket, 'data');
    socket.write('zz\r\n');
    await closed;
    assert.deepEqual(
      parseAnswers(Buffer.concat(chunks)).map(({ status }) => status),
      [401],
    );
  });

  test('is answered once, however much garbage follows', async () => {
    const good = requestBytes({
      method: 'GET',
      target: '/api/v1/patients/base',
      headers: { authorization: `Bearer ${account.token}`, connection: 'keep-alive' },
    });
    const socket = connect(port, '127.0.0.1');
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.on('error', () => undefined);
    const closed = once(socket, 'close');
    socket.write(Buffer.concat([good, Buffer.from('nonsense\r\n\r\n')]));
    for (let index = 0; index < 20 && !socket.closed; index += 1) {
      socket.write('more nonsense\r\n\r\n');
      await turn();
    }
    await closed;
    assert.deepEqual(
      parseAnswers(Buffer.concat(chunks)).map(({ status }) => status),
      [200, 400],
    );
  });
});

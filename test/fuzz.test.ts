/**
 * Every registered route is fuzzed from its own schema: whatever comes in, the answer is 4xx in the error shape,
 * never 5xx, never a hang, never a leak. A new route is fuzzed by being registered.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { STATUS_CODES } from 'node:http';
import { connect } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import type { TSchema } from 'typebox';
import {
  BROKEN_ENCODINGS,
  bodies,
  changedDocuments,
  encoded,
  headers,
  parseOr,
  pathsOf,
  queries,
  replaced,
} from '../test-support/http/bad-input.ts';
import { type AnswerCheck, createAnswerCheck } from '../test-support/http/documented-answers.ts';
import {
  exchangeBytes,
  type RawAnswer,
  type RawRequest,
  requestBytes,
} from '../test-support/http/raw-http.ts';
import {
  pathParameters,
  querySchema,
  type RegisteredRoute,
  type SampleRequest,
  sampleRequest,
} from '../test-support/http/route-requests.ts';
import { type SeededRecords, seedRecords } from '../test-support/records/seed-tenant.ts';
import { startTestApi, type Tenant, type TestApi } from '../test-support/service/api.ts';
import { sized } from '../test-support/sized.ts';

/** Runs of one property, on all routes together; FUZZ_RUNS=20000 for a long look. */
const RUNS = Number(process.env.FUZZ_RUNS ?? sized(300, 800));
/** What must not be told: SQL, stacks, the inside of the driver. */
const LEAK =
  /\b(select|insert into|update|delete from) [a-z_"]+|syntax error|\bat (async )?[\w.<>]+ \(|\bat \/|file:\/\/|node:internal|node_modules|\bpg_|SQLSTATE|\b(column|relation|constraint) "/i;

/** Operations whose messages name what a body holds: the columns of a file of terminology maps. */
const ECHOES: ReadonlySet<string> = new Set(['importTerminologyMaps']);

describe('bad input', () => {
  let api: TestApi;
  let tenant: Tenant;
  let seeds: SeededRecords;
  let token: string;
  let port: number;
  let isDocumented: AnswerCheck;

  before(async () => {
    api = await startTestApi({ env: { IMPORT_MAX_BYTES: String(2 ** 20) } });
    tenant = await api.createTenant();
    seeds = await seedRecords(api.database.pool, tenant);
    ({ token } = await api.createAccount(tenant));
    port = Number(new URL(api.origin).port);
    isDocumented = createAnswerCheck((await api.call('/docs/json')).json);
  });
  after(() => api.close());

  /** A route that ends its session needs a new one for each call. */
  async function tokenFor({ route }: RegisteredRoute): Promise<string> {
    return route.access.kind === 'session' ? (await api.createAccount(tenant)).token : token;
  }

  async function send(entry: RegisteredRoute, request: RawRequest): Promise<RawAnswer> {
    const authorization = `Bearer ${await tokenFor(entry)}`;
    const headers = { authorization, ...request.headers };
    const answers = await exchangeBytes(port, requestBytes({ ...request, headers }));
    assert.equal(answers.length, 1, 'one answer');
    const answer = answers[0] as RawAnswer;
    checkAnswer(answer, documented(entry));
    // An answer to a method that the route does not have is none of its operation.
    if (request.method === entry.method) isDocumented(entry, { ...answer, body: answer.body.toString() });
    return answer;
  }

  async function fuzz(
    input: (entry: RegisteredRoute) => fc.Arbitrary<RawRequest> | undefined,
  ): Promise<void> {
    const numRuns = Math.max(sized(3, 8), Math.floor(RUNS / api.api.routes.length));
    for (const entry of api.api.routes) {
      const requests = input(entry);
      if (requests === undefined) continue;
      await fc
        .assert(
          fc.asyncProperty(requests, async (request) => void (await send(entry, request))),
          { numRuns },
        )
        .catch((error: Error) => {
          throw new Error(`${entry.method} ${entry.path}: ${error.message}`, { cause: error });
        });
    }
  }

  const sample = (entry: RegisteredRoute) => sampleRequest(entry, seeds);

  test('in the path [HTTP-12, SEC-30]', async () => {
    await fuzz((entry) => {
      const parameters = pathParameters(entry);
      if (parameters.length === 0) return undefined;
      const { query, ...rest } = sample(entry);
      return fc.array(encoded, { minLength: 1, maxLength: parameters.length }).map((values) => {
        const path = parameters.reduce(
          (path, name, index) => path.replace(`:${name}`, () => values[index % values.length] ?? ''),
          entry.path,
        );
        return toRaw({ ...rest, path }, new URLSearchParams(query).toString());
      });
    });
  });

  test('in the query [HTTP-12, HTTP-26]', async () => {
    await fuzz((entry) => {
      const known = knownQuery(entry).toString();
      return queries(entry, known).map((query) => withQuery(entry, query));
    });
  });

  test('in the JSON body [HTTP-2, HTTP-3]', async () => {
    await fuzz(({ route, ...entry }) => {
      const { body, bodyMode = 'parsed' } = route.schemas;
      if (body === undefined || bodyMode === 'form') return undefined;
      const request = sample({ route, ...entry });
      const query = new URLSearchParams(request.query).toString();
      return bodies(request, body).map((bytes) => ({ ...toRaw(request, query), body: bytes }));
    });
  });

  test('in records to import', async () => {
    const entry = api.api.routes.find(({ route }) => route.docs.operationId === 'importRecords');
    assert.ok(entry);
    const request = sample(entry);
    const documents = changedDocuments(parseOr(request.body ?? '', {}), {} as TSchema);
    await fc.assert(
      fc.asyncProperty(documents, async (body) => {
        const { status, body: answer } = await send(entry, { ...toRaw(request, ''), body });
        assert.ok(status === 200 || status === 400, `${status}: ${answer.toString().slice(0, 300)}`);
        assert.doesNotMatch(answer.toString(), LEAK);
      }),
      { numRuns: Math.ceil(RUNS / 5) },
    );
  });

  test('in the headers [HTTP-7]', async () => {
    await fuzz((entry) => {
      const request = sample(entry);
      const raw = toRaw(request, new URLSearchParams(request.query).toString());
      return headers().map((changed) => ({ ...raw, headers: { ...raw.headers, ...changed } }));
    });
  });

  /** A request of the route with this query, or this form where it takes one. */
  function withQuery(entry: RegisteredRoute, query: string): RawRequest {
    const request = sample(entry);
    return entry.route.schemas.bodyMode === 'form'
      ? { ...toRaw(request, ''), body: Buffer.from(query, 'latin1') }
      : toRaw(request, query);
  }

  function knownQuery(entry: RegisteredRoute): URLSearchParams {
    const { query, body } = sample(entry);
    return new URLSearchParams(entry.route.schemas.bodyMode === 'form' ? body : query);
  }

  test('in parameters that are given twice [HTTP-10]', async () => {
    for (const entry of api.api.routes)
      for (const [name, property] of Object.entries(querySchema(entry))) {
        if ((property as { type?: string }).type === 'array') continue;
        const query = knownQuery(entry);
        const value = query.get(name) ?? '1';
        query.set(name, value);
        query.append(name, value);
        const { status } = await send(entry, withQuery(entry, query.toString()));
        assert.equal(status, 400, `${entry.path} ${name} twice: ${status}`);
      }
  });

  test('in text that PostgreSQL cannot hold [HTTP-12]', async () => {
    for (const entry of api.api.routes)
      for (const name of Object.keys(querySchema(entry)))
        for (const value of ['%00', 'a%00b', '%ff', '%ed%a0%80', '%']) {
          const query = knownQuery(entry);
          query.delete(name);
          const { status } = await send(entry, withQuery(entry, `${query}&${name}=${value}`));
          assert.equal(status, 400, `${entry.path} ${name}=${value}: ${status}`);
        }
  });

  /** Routes that read a body, with the request that they take. */
  function* takers(): Generator<{ entry: RegisteredRoute; raw: RawRequest; body: Uint8Array }> {
    for (const entry of api.api.routes) {
      const { bodyMode = 'parsed', body } = entry.route.schemas;
      const request = sample(entry);
      const raw = toRaw(request, new URLSearchParams(request.query).toString());
      if ((body !== undefined || bodyMode !== 'parsed') && raw.body !== undefined)
        yield { entry, raw, body: raw.body };
    }
  }

  test('is never repeated in a message [HTTP-4]', async () => {
    const mark = 'Quixzotterdam-1951-07-19';
    const repeated: string[] = [];
    const look = async (entry: RegisteredRoute, where: string, request: RawRequest) => {
      const { status, body } = await send(entry, request);
      if (status >= 400 && body.toString().includes(mark)) repeated.push(`${entry.path} ${where}: ${body}`);
    };
    for (const entry of api.api.routes) {
      const request = sample(entry);
      const query = knownQuery(entry);
      for (const name of pathParameters(entry)) {
        const path = entry.path.replace(`:${name}`, mark);
        await look(entry, name, toRaw({ ...request, path }, query.toString()));
      }
      for (const name of Object.keys(querySchema(entry))) {
        const changed = new URLSearchParams(query);
        changed.set(name, mark);
        const raw = withQuery(entry, changed.toString());
        await look(entry, name, { ...raw, headers: { ...raw.headers, prefer: 'handling=strict' } });
      }
      if (ECHOES.has(entry.route.docs.operationId)) continue;
      const document = parseOr(request.body ?? '', undefined);
      for (const path of pathsOf(document)) {
        const body = Buffer.from(JSON.stringify(replaced(document, path, mark)));
        await look(entry, path.join('.'), { ...withQuery(entry, query.toString()), body });
      }
    }
    assert.deepEqual(repeated, []);
  });

  test('in bodies that are too large or too deep [HTTP-16, SEC-27]', async () => {
    const tenMegabytes = Buffer.alloc(10 * 2 ** 20, 'x');
    const refused = [
      Buffer.from(`${'['.repeat(100_000)}${']'.repeat(100_000)}`),
      Buffer.from(`${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`),
      tenMegabytes,
      Buffer.concat([Buffer.from('"'), tenMegabytes]),
    ];
    const chunk = Buffer.concat([Buffer.from('100000\r\n'), Buffer.alloc(2 ** 20, 'x'), Buffer.from('\r\n')]);
    const chunks = Buffer.concat([...Array.from({ length: 10 }, () => chunk), Buffer.from('0\r\n\r\n')]);
    for (const { entry, raw } of takers()) {
      for (const body of refused) {
        const { status } = await send(entry, { ...raw, body });
        assert.ok(status >= 400, `${entry.path}: ${status}`);
      }
      const headers = { ...raw.headers, 'transfer-encoding': 'chunked' };
      const { status } = await send(entry, { ...raw, headers, body: chunks });
      assert.ok(status >= 400, `${entry.path}: ${status}`);
    }
    for (const entry of api.api.routes.filter(({ method }) => method === 'GET').slice(0, 3))
      await send(entry, { ...withQuery(entry, knownQuery(entry).toString()), body: tenMegabytes });
  });

  test('in the type of the body [HTTP-3]', async () => {
    const types = ['', 'text/plain', 'application/xml', 'multipart/form-data; boundary=x', 'x', ';', '*/*'];
    for (const { entry, raw } of takers())
      for (const type of types) {
        const answer = await send(entry, { ...raw, headers: { ...raw.headers, 'content-type': type } });
        // Callbacks are known by their signature, which comes first.
        const refused = entry.route.access.kind === 'open' ? [401, 415] : [415];
        // Publishing takes no body of any type; without a target it goes no further.
        if (entry.path.endsWith('/publish-fhir')) refused.push(400, 503);
        assert.ok(refused.includes(answer.status), `${entry.path} ${type}: ${answer.status}`);
      }
  });

  test('in the encoding of the body', async () => {
    for (const { entry, raw, body } of takers()) {
      const zipped = gzipSync(body);
      for (const bytes of [
        zipped.subarray(0, 12),
        // Zeros may follow a gzip stream, and end it: what comes must begin with something else.
        Buffer.concat([zipped, Buffer.of(1), randomBytes(20)]),
        randomBytes(100),
      ])
        for (const encoding of ['gzip', 'br', 'nonsense']) {
          const headers = { ...raw.headers, 'content-encoding': encoding };
          const { status } = await send(entry, { ...raw, headers, body: bytes });
          assert.ok(status >= 400, `${entry.path} ${encoding}: ${status}`);
        }
    }
  });

  test('in the method and the address [HTTP-2]', async () => {
    const paths = [
      '/',
      '/api',
      '/api/v1',
      '/api/v1/',
      '/api/v1//',
      '/API/V1/auth/login',
      '/nope',
      '/api/v1/../..',
    ];
    const odd = [
      ...BROKEN_ENCODINGS.map((part) => `/api/v1/${part}`),
      `/${'a/'.repeat(3_000)}`,
      '*',
      '?',
      '/?',
    ];
    for (const target of [...paths, ...odd])
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND']) {
        const answers = await exchangeBytes(port, requestBytes({ method, target, headers: {} }));
        assert.equal(answers.length, 1);
        const answer = answers[0] as RawAnswer;
        checkAnswer(answer, new Set());
        assert.ok(answer.status >= 400 && answer.status < 500, `${method} ${target}: ${answer.status}`);
      }
    for (const entry of api.api.routes) {
      const request = toRaw(sample(entry), '');
      for (const method of ['OPTIONS', 'TRACE']) {
        const answer = await send(entry, { ...request, method });
        assert.ok(answer.status >= 400, `${method} ${entry.path}`);
      }
    }
  });

  test('that is not HTTP at all [HTTP-12]', async () => {
    const garbage = [
      'nonsense\r\n\r\n',
      '\0\0\0\0\r\n\r\n',
      'GET\r\n\r\n',
      'GET / HTTP/9.9\r\nhost: x\r\n\r\n',
      'GET / HTTP/1.1\r\n\r\n',
      'GET / HTTP/1.1\r\nhost: a\r\nhost: b\r\nconnection: close\r\n\r\n',
      'GET / HTTP/1.1\r\nhost x\r\n\r\n',
      'GET / HTTP/1.1\r\nhost: x\r\nx: \0\r\n\r\n',
      'GET / HTTP/1.1\r\nhost: x\r\n folded\r\n\r\n',
      `GET /${'a'.repeat(20_000)} HTTP/1.1\r\nhost: x\r\n\r\n`,
      `GET / HTTP/1.1\r\nhost: x\r\n${'y: z\r\n'.repeat(5_000)}\r\n`,
      `GET / HTTP/1.1\r\nhost: x\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`,
      'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: -1\r\n\r\n',
      'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1, 2\r\n\r\n',
      'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
      'POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: nonsense\r\n\r\n',
      'POST / HTTP/1.1\r\nhost: x\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n',
      'CONNECT localhost:1 HTTP/1.1\r\nhost: x\r\n\r\n',
      'POST / HTTP/1.1\r\nhost: x\r\nexpect: nonsense\r\n\r\n',
      'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
      '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
    ];
    for (const bytes of garbage) {
      const sent = JSON.stringify(bytes.slice(0, 80));
      const [answer] = await exchangeBytes(port, Buffer.from(bytes, 'latin1')).catch((error: Error) => {
        throw new Error(`${error.message}: ${sent}`);
      });
      assert.ok(answer, `no answer to ${sent}`);
      checkAnswer(answer, new Set());
      assert.ok(answer.status >= 400 && answer.status < 500, `${answer.status} to ${sent}`);
    }
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 200 }), async (bytes) => {
        // Empty lines before a request are to be ignored (RFC 9112 section 2.2).
        fc.pre(bytes[0] !== 10 && bytes[0] !== 13);
        const end = Buffer.from('\r\n\r\n');
        for (const answer of await exchangeBytes(port, Buffer.concat([bytes, end])))
          checkAnswer(answer, new Set());
      }),
      { numRuns: sized(40, 100) },
    );
  });

  test('that never ends holds up nobody else, and is not waited for for ever [SEC-27]', async () => {
    const beginnings = [
      '',
      'GET / HTTP/1.1\r\nhost: x\r\nx-slow: ',
      'POST /api/v1/auth/verify HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"em',
    ];
    const silent = await Promise.all(
      Array.from({ length: 60 }, async (_, index) => {
        const socket = connect(port, '127.0.0.1');
        socket.on('error', () => undefined);
        await once(socket, 'connect');
        socket.write(beginnings[index % beginnings.length] ?? '');
        return socket;
      }),
    );
    const { status } = await api.call('/patients/base', { token });
    assert.equal(status, 200);
    for (const socket of silent) socket.destroy();
    const { headersTimeout, requestTimeout, timeout } = api.api.server.server;
    assert.ok(headersTimeout > 0 && headersTimeout <= 60_000);
    assert.ok(requestTimeout > 0 && requestTimeout <= 300_000);
    assert.ok(timeout > 0 && timeout <= 300_000);
  });

  test('between good requests on one connection [HTTP-19]', async () => {
    const authorization = `Bearer ${token}`;
    const good = (connection: string) =>
      requestBytes({
        method: 'GET',
        target: '/api/v1/patients/base',
        headers: { authorization, connection },
      });
    const bad = requestBytes({
      method: 'GET',
      target: '/api/v1/patients/base?limit=x',
      headers: { authorization, connection: 'keep-alive' },
    });
    const answers = await exchangeBytes(
      port,
      Buffer.concat([good('keep-alive'), bad, good('keep-alive'), good('close')]),
    );
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 400, 200, 200],
    );
    for (const answer of answers) checkAnswer(answer, new Set());
  });

  test('never makes an answer that may be kept [HTTP-8]', async () => {
    for (const path of [
      '/docs',
      '/docs/static/index.html',
      '/docs/static/index.css',
      '/docs/json',
      '/docs/nope',
    ]) {
      const { status, headers } = await api.call(path);
      assert.ok(status < 500);
      assert.equal(headers.get('cache-control'), 'no-store', path);
      assert.ok(headers.has('x-correlation-id'), path);
    }
  });

  test('leaves the service as it was [HTTP-12]', async () => {
    assert.equal((await api.call('/patients/base', { token })).status, 200);
    assert.doesNotMatch(api.logs(), /unexpected error/);
  });
});

/** 5xx that the route documents. */
function documented({ route }: RegisteredRoute): Set<number> {
  return new Set(Object.keys(route.schemas.responses).map(Number));
}

function checkAnswer({ status, headers, body }: RawAnswer, allowed: ReadonlySet<number>): void {
  const content = body.toString();
  assert.ok(status < 500 || allowed.has(status), `${status}: ${content.slice(0, 300)}`);
  assert.match(headers['x-correlation-id'] ?? '', /^[A-Za-z0-9._-]{1,128}$/);
  assert.equal(headers['cache-control'], 'no-store');
  assert.equal(headers['x-content-type-options'], 'nosniff');
  if (status < 400) return;
  assert.match(headers['content-type'] ?? '', /^application\/json/, content.slice(0, 300));
  const error = JSON.parse(content) as Record<string, unknown>;
  assert.deepEqual(Object.keys(error), ['statusCode', 'message', 'error']);
  assert.equal(error.statusCode, status);
  assert.equal(error.error, STATUS_CODES[status]);
  assert.ok(typeof error.message === 'string' && error.message.length > 0 && error.message.length < 2_000);
  assert.doesNotMatch(content, LEAK);
}

function toRaw({ method, path, headers, body }: Omit<SampleRequest, 'query'>, query: string): RawRequest {
  const target = query === '' ? path : `${path}?${query}`;
  return { method, target, headers, ...(body === undefined ? {} : { body: Buffer.from(body) }) };
}

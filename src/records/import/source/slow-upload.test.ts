/** Uploads that take long: they end for lack of progress, say so, and keep nobody out. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { beforeEach, describe, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { documentedCalls } from '../../../../test-support/http/documented-answers.ts';
import { patient } from '../../../../test-support/records/clinic.ts';
import { handBody, lines } from '../../../../test-support/records/import.ts';
import {
  type Answer,
  startTestApi,
  type TestAccount,
  useEmptyApi,
} from '../../../../test-support/service/api.ts';
import { answered } from '../../../../test-support/service/worded-errors.ts';
import { waitForLock, waitUntil } from '../../../../test-support/wait-until.ts';
import { isSlowBody } from '../../../platform/http/slow-bodies.ts';
import { importRecordsRoute } from '../import-records.route.ts';
import { type Pace, paced } from './paced-body.ts';

let account: TestAccount;
/** The server's ends of connections, newest last. */
const sockets: Socket[] = [];

const t = await useEmptyApi();
const documented = await documentedCalls(t);
t.api.server.server.on('connection', (socket: Socket) => sockets.push(socket));
beforeEach(async () => {
  account = await t.createAccount(await t.createTenant());
});

/** Every answer must be one that the OpenAPI document describes. */
const send = async (body: string, { token } = account): Promise<Answer> => {
  const headers = { 'content-type': 'application/fhir+ndjson' };
  return documented('POST', '/imports/fhir', await t.call('/imports/fhir', { token, headers, body }));
};

/** A call whose body is still to be written. */
function open(
  path = '/imports/fhir',
  method = 'POST',
  { baseUrl, token } = { baseUrl: t.baseUrl, token: account.token },
): { call: ClientRequest; answer: Promise<Answer> } {
  const call = request(baseUrl + path, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'transfer-encoding': 'chunked',
    },
  });
  call.flushHeaders();
  const answer = once(call, 'response').then(async ([response]: IncomingMessage[]) => {
    const chunks: Buffer[] = [];
    for await (const chunk of response as IncomingMessage) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    const headers = new Headers(response?.headers as Record<string, string>);
    return { status: response?.statusCode ?? 0, headers, text, json: JSON.parse(text) };
  });
  answer.catch(() => undefined);
  return { call, answer };
}

/** The server's end of the connection of a call that has begun. */
async function socketOf({ call }: { call: ClientRequest }): Promise<Socket> {
  const [client] = call.socket === null ? await once(call, 'socket') : [call.socket];
  return waitUntil(
    () => sockets.find(({ remotePort }) => remotePort !== undefined && remotePort === client.localPort),
    'the server has the connection',
  );
}

/** What Node.js does once the whole of a request is not there after `server.requestTimeout`. */
function timeOut(socket: Socket): void {
  const error = Object.assign(new Error('Request timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
  t.api.server.server.emit('clientError', error, socket);
}

describe('a slow upload', () => {
  test('that has sent nothing whole keeps no other import of its organisation out [IN-29]', async () => {
    const slow = [1, 2, 3, 4, 5].map(() => open());
    for (const { call } of slow) call.write('{');
    for (const upload of slow) await socketOf(upload);
    for (let round = 0; round < 3; round += 1)
      assert.deepEqual((await send(lines([patient()]))).json.resources, { Patient: 1 });
    for (const { call } of slow) call.destroy();
  });

  test('may take longer than other requests, and is taken at its end [IN-29]', async () => {
    const upload = open();
    const text = JSON.stringify(patient());
    upload.call.write(text.slice(0, 10));
    const socket = await socketOf(upload);
    const late = { code: 'ERR_HTTP_REQUEST_TIMEOUT' };
    await waitUntil(() => isSlowBody(late, socket), 'the route has the body');
    timeOut(socket);
    upload.call.end(text.slice(10));
    const { status, json } = await upload.answer;
    assert.deepEqual([status, json.resources], [200, { Patient: 1 }]);
  });

  test('may be quiet for longer than another connection [IN-28]', async () => {
    const { server } = t.api.server;
    const { timeout } = server;
    server.timeout = 200;
    const [upload, idle] = [open(), connect(Number(new URL(t.baseUrl).port), '127.0.0.1')];
    const text = JSON.stringify(patient());
    upload.call.write(text.slice(0, 10));
    const socket = await socketOf(upload);
    await waitUntil(() => isSlowBody({ code: 'ERR_HTTP_REQUEST_TIMEOUT' }, socket), 'the route has the body');
    await once(idle.resume(), 'close');
    server.timeout = timeout;
    upload.call.end(text.slice(10));
    assert.equal((await upload.answer).status, 200);
  });

  test('other routes keep the time-out for whole requests, with 408 [SEC-27]', async () => {
    const put = open('/terminology/maps', 'PUT');
    put.call.write('{');
    const socket = await socketOf(put);
    await waitUntil(() => socket.bytesRead >= 200, 'the request has arrived');
    timeOut(socket);
    assert.equal((await put.answer).status, 408);
  });

  test('that stops is ended with the reason; nothing of it is kept [IN-28]', async (context) => {
    // Of its own, so that no other upload of this file is taken for one that stops.
    const { baseUrl, ...api } = await startTestApi({ env: { IMPORT_IDLE_SECONDS: '1' } });
    context.after(() => api.close());
    const { token } = await api.createAccount(await api.createTenant());
    const someone = patient();
    const upload = open('/imports/fhir', 'POST', { baseUrl, token });
    upload.call.write(`${JSON.stringify(someone)}\n{`);
    const { status, json } = documented('POST', '/imports/fhir', await upload.answer);
    assert.equal(status, 408);
    assert.deepEqual(json, {
      statusCode: 408,
      message: 'The import was stopped: no data arrived for 1 second. Nothing was kept. Send it again.',
      error: 'Request Timeout',
    });
    const { paths } = (await api.call('/docs/json')).json;
    assert.ok('408' in paths['/imports/fhir'].post.responses, 'the document says so');
    const { rows } = await api.database.pool.query('select id from patient where id = $1', [someone.id]);
    assert.deepEqual(rows, []);
  });
});

describe('the pace of a body', () => {
  /** Passes when the test says so. */
  let nowMs = 0;
  const pacedBy = (body: Readable, pace: Pace) => paced(body, pace, () => nowMs);
  const trickle = (everyMs: number) =>
    Readable.from(
      (async function* () {
        for (;;) {
          await turn();
          nowMs += everyMs;
          yield Buffer.from(' ');
        }
      })(),
      { highWaterMark: 1 },
    );
  const all = async (chunks: AsyncIterable<Buffer>) => {
    let bytes = 0;
    for await (const chunk of chunks) bytes += chunk.length;
    return bytes;
  };

  test('a trickle without end is ended, though something always arrives [IN-28]', async () => {
    const pace = { idleMs: 60_000, windowMs: 100, minWindowBytes: 1_000 };
    await assert.rejects(
      answered(() => all(pacedBy(trickle(5), pace))),
      {
        statusCode: 408,
        message: /^The import was stopped: fewer than 1000 bytes arrived in/,
      },
    );
  });

  test('what is enough in each window, and what ends before it, is read to its end', async () => {
    const chunks = Array.from({ length: 50 }, () => Buffer.alloc(100));
    const pace = { idleMs: 60_000, windowMs: 1, minWindowBytes: 100 };
    assert.equal(await all(paced(Readable.from(chunks), pace)), 5_000);
    const short = { idleMs: 60_000, windowMs: 60_000, minWindowBytes: 1_000_000 };
    assert.equal(await all(paced(Readable.from(chunks), short)), 5_000);
  });

  test('time that the reader takes for itself does not count', async () => {
    const pace = { idleMs: 60_000, windowMs: 50, minWindowBytes: 1_000 };
    const chunks = Readable.from(Array.from({ length: 8 }, () => Buffer.alloc(10)));
    for await (const chunk of pacedBy(chunks, pace)) {
      assert.equal(chunk.length, 10);
      nowMs += 30;
    }
  });
});

/** `during` runs while the import that `begin` sends works: a statement of it waits for a lock. */
async function whileImporting<T>(begin: () => Promise<T>, during: () => Promise<void>): Promise<T> {
  const owner = await t.database.connectOwner();
  try {
    await owner.query('begin');
    await owner.query('lock table provider_organisation in access exclusive mode');
    const working = begin();
    await waitForLock(t.database.pool, { relation: 'provider_organisation' });
    await during();
    await owner.query('rollback');
    return await working;
  } finally {
    await owner.end();
  }
}

test('an import waits for another one of its organisation, and keeps no other organisation waiting', async () => {
  const other = await t.createAccount(await t.createTenant());
  const upload = open();
  upload.call.write('{"resourceType":');
  const socket = await socketOf(upload);
  const isRead = () => !isSlowBody({ code: 'ERR_HTTP_REQUEST_TIMEOUT' }, socket);
  await waitUntil(() => !isRead(), 'the route has the body');
  let next: Promise<Answer> | undefined;
  const clinic = lines([{ resourceType: 'Organization', name: 'Hill Clinic' }]);
  const first = await whileImporting(
    () => send(clinic),
    async () => {
      upload.call.end('"Patient"}');
      await waitUntil(isRead, 'the body is there');
      assert.equal((await send(lines([patient()]), other)).status, 200);
      next = send(lines([patient()]));
    },
  );
  assert.deepEqual(first.json.resources, { Organization: 1 });
  assert.deepEqual((await upload.answer).json.resources, { Patient: 1 });
  assert.deepEqual((await next)?.json.resources, { Patient: 1 });
});

test('an import that got no place in time is 503, and is sent again as it was [ADM-47]', async () => {
  const route = importRecordsRoute({ ...t.runtime, waitMs: 1 });
  const clinic = () => Readable.from([Buffer.from('{"resourceType":"Organization","name":"Hill Clinic"}')]);
  const handle = (importId: string) => handBody(route, account, { body: clinic(), importId });
  const importId = randomUUID();
  await whileImporting(
    () => handle(randomUUID()),
    () =>
      assert.rejects(handle(importId), {
        statusCode: 503,
        message: 'Another import is running for this organisation. Try again when it has ended.',
        headers: { 'retry-after': '5' },
      }),
  );
  assert.deepEqual((await handle(importId)).headers, { 'x-import-id': importId });
});

import assert from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import { type TestContext, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { listenHere } from '../../../test-support/service/free-port.ts';
import { DEFAULT_SETTINGS } from '../servers/fhir-server.ts';
import { createFhirClient } from './fhir-client.ts';

const MIB = 1024 * 1024;

test('of a long answer no more than 4 MiB is kept; what is kept is joined once [SEC-28]', async (t) => {
  const fhir = await clientOf(t, (request, response) => {
    const size = Number(request.url?.split('/').at(-1));
    response.writeHead(201, { location: '/Binary/7/_history/2', etag: 'W/"2"' });
    response.end(Buffer.alloc(size, 'x'));
  });
  const long = await fhir.send({ method: 'POST', path: String(5 * MIB), body: '{}' });
  assert.ok(long.kind === 'answered');
  assert.ok(long.body === undefined, 'an answer is not told by part of it');
  assert.deepEqual([long.status, long.location, long.etag], [201, '/Binary/7/_history/2', 'W/"2"']);
  const short = await fhir.send({ method: 'POST', path: String(3 * MIB), body: '{}' });
  assert.ok(short.kind === 'answered');
  const joined = t.mock.method(Buffer, 'concat');
  assert.equal(short.body?.length, 3 * MIB);
  assert.equal(short.body.length, 3 * MIB);
  assert.equal(joined.mock.callCount(), 1);
});

test('a server that compresses where it may is asked not to', async (t) => {
  const fhir = await clientOf(t, (request, response) => {
    const mayCompress = request.headers['accept-encoding'] !== 'identity';
    response.writeHead(200, mayCompress ? { 'content-encoding': 'gzip' } : {});
    response.end(mayCompress ? gzipSync('{}') : '{}');
  });
  const answer = await fhir.send({ method: 'GET', path: 'Patient/1' });
  assert.equal(answer.kind === 'answered' && answer.body, '{}');
});

async function clientOf(t: TestContext, answer: RequestListener) {
  const server = createServer(answer);
  t.after(() => server.close());
  const base = `http://127.0.0.1:${await listenHere(server)}`;
  const fhir = createFhirClient({ ...DEFAULT_SETTINGS, name: 'n', base, auth: 'none' }, undefined);
  t.after(() => fhir.close());
  return fhir;
}

import assert from 'node:assert/strict';
import { createServer, type RequestOptions, request } from 'node:http';
import { test } from 'node:test';
import { runCommand, startCommand } from '../../test-support/service/command.ts';
import { listenHere } from '../../test-support/service/free-port.ts';

const call = (url: string, init?: RequestInit) => fetch(url, init).then((response) => response.status);
const put = (base: string, path: string, resource: object) =>
  call(`${base}/${path}`, { method: 'PUT', body: JSON.stringify(resource) });
const ADDRESS = /(http:\/\/127\.0\.0\.1:\d+\/fhir)/;
const PATIENT = { resourceType: 'Patient', id: 'p1' };

test('a FHIR server that enforces references and prints what it is sent', async (t) => {
  const started = startCommand(['fhir-simulator', '--port', '0']);
  t.after(() => started.child.kill('SIGKILL'));
  const [, base = ''] = await started.printed(ADDRESS);
  const pulse = { resourceType: 'Observation', id: 'o1', subject: { reference: 'Patient/p1' } };
  assert.equal(await call(`${base}/metadata`), 200);
  assert.equal(await put(base, 'Observation/o1', pulse), 422);
  assert.equal(await put(base, 'Patient/p1', PATIENT), 201);
  assert.equal(await put(base, 'Patient/p1', PATIENT), 200);
  assert.equal(await put(base, 'Observation/o1', pulse), 201);
  assert.equal(await call(`${base}/Patient/p2`), 404);
  await started.printed(/PUT Patient\/p1 201\nPUT Patient\/p1 200\nPUT Observation\/o1 201\n/);
  started.child.kill('SIGTERM');
  assert.equal((await started.ended).code, 0);
});

test('--own-ids refuses ids of others', async (t) => {
  const started = startCommand(['fhir-simulator', '--port', '0', '--own-ids']);
  t.after(() => started.child.kill('SIGKILL'));
  const [, base = ''] = await started.printed(ADDRESS);
  assert.equal(await put(base, 'Patient/p1', PATIENT), 405);
  assert.equal(await call(`${base}/Patient`, { method: 'POST', body: JSON.stringify(PATIENT) }), 201);
});

test('a foreign Host, a body without end and an identifier that is none are refused', async (t) => {
  const started = startCommand(['fhir-simulator', '--port', '0']);
  t.after(() => started.child.kill('SIGKILL'));
  const [, base = ''] = await started.printed(ADDRESS);
  const { port } = new URL(base);
  const statusOf = (options: RequestOptions, body?: Buffer) =>
    new Promise<number | undefined>((resolve, reject) => {
      const sending = request({ host: '127.0.0.1', port, ...options }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      sending.on('error', reject).end(body);
    });
  const metadata = (host: string) => statusOf({ path: '/fhir/metadata', headers: { host } });
  assert.deepEqual(
    [
      await metadata('evil.example.org'),
      await metadata(`localhost:${port}`),
      await metadata(`127.0.0.1:${port}`),
    ],
    [421, 200, 200],
  );
  assert.equal(await put(base, 'Patient/p3', { ...PATIENT, id: 'p3', identifier: 5 }), 400);
  assert.equal(await put(base, 'Patient/p3', { ...PATIENT, id: 'p3', identifier: [null] }), 400);
  assert.equal(await call(`${base}/Patient?identifier=a%7Cb`), 200);
  const long = Buffer.alloc(65 * 1024 * 1024, ' ');
  const tooLong = await statusOf({ method: 'PUT', path: '/fhir/Patient/p4' }, long).catch(() => 413);
  assert.equal(tooLong, 413);
});

test('a port that is taken is said, with all that has to be changed', async (t) => {
  const other = createServer();
  t.after(() => other.close());
  const port = await listenHere(other);
  const { code, stderr } = await runCommand(['fhir-simulator', '--port', String(port)]);
  assert.equal(code, 1);
  assert.equal(
    stderr,
    `error: The simulator cannot listen on port ${port} (EADDRINUSE). Choose another port with --port, and the same port in the address of the connection or target.\n`,
  );
});

test('a port that is none is a usage error', async () => {
  const { code, stderr } = await runCommand(['fhir-simulator', '--port', 'x']);
  assert.equal(code, 2);
  assert.match(stderr, /--port must be from 0 to 65535/);
});

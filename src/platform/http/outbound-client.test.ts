import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { createOutboundClient, isUntrusted } from './outbound-client.ts';

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

test('a request may have less time than the client; connecting and the whole answer are in it', async () => {
  const server = createServer((_, response) => {
    response.writeHead(200);
    response.write('the answer begins, and never ends');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const limits = { reach: 'operator', maxInFlight: 1, timeoutMs: 600_000, maxResponseBytes: 1_000 } as const;
  const client = createOutboundClient(address, limits);
  const answer = await client.send({ method: 'GET', path: '/', headers: {}, timeoutMs: 100 });
  assert.deepEqual(answer, { kind: 'unanswered', code: 'TIMEOUT', reached: true });
  client.close();
  server.closeAllConnections();
  server.close();
});

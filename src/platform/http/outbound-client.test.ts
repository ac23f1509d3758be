import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isUntrusted } from './outbound-client.ts';

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

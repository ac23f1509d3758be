import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failure } from './write-failure.ts';

const said = (code: string) =>
  failure({ resourceType: 'Patient', id: 'p' }, 'PUT', { kind: 'unanswered', code, reached: false }).message;

test('a name is called unknown only where a name server said so', () => {
  assert.match(said('ENOTFOUND'), /the name of the server is not known/);
  assert.match(said('EAI_AGAIN'), /could not be looked up: check the DNS of this machine/);
});

test('a certificate is blamed for what is wrong with it, and not for what the server refuses in TLS', () => {
  for (const code of ['CERT_HAS_EXPIRED', 'ERR_TLS_CERT_ALTNAME_INVALID', 'DEPTH_ZERO_SELF_SIGNED_CERT'])
    assert.match(said(code), /the certificate of the server is not trusted/, code);
  assert.match(said('EPROTO'), /check https and the port in the base address of the target/);
  // It asks the client for a certificate.
  const other = 'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED';
  assert.equal(said(other), `PUT was not answered (${other})`);
});

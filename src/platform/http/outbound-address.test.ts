import assert from 'node:assert/strict';
import type { LookupAddress } from 'node:dns';
import { describe, test } from 'node:test';
import { guardedLookup, parseOutboundAddress } from './outbound-address.ts';
import { parseRetryAfter } from './retry-after.ts';

describe('addresses that may be sent to', () => {
  test('https anywhere, http to this machine', () => {
    for (const address of [
      'https://fhir.example.org/r4',
      'https://10.0.0.7:8443/fhir',
      'https://[2001:db8::1]/fhir',
      'http://localhost:8080/fhir',
      'http://127.0.0.1/fhir',
      'http://127.9.9.9/fhir',
      'http://[::1]:8080/fhir',
    ])
      assert.equal(parseOutboundAddress(address).href, new URL(address).href);
  });

  test('nothing else', () => {
    for (const address of [
      'fhir.example.org',
      'ftp://fhir.example.org',
      'file:///etc/passwd',
      'http://fhir.example.org',
      'http://10.0.0.7/fhir',
      'https://user:pass@fhir.example.org',
      'https://fhir.example.org/#part',
      'https://169.254.169.254/latest/meta-data',
      'http://169.254.169.254/latest/meta-data',
      'https://2852039166/', // 169.254.169.254 as one number
      'https://0xa9.0xfe.0xa9.0xfe/',
      'https://[fe80::1]/',
      'https://[::ffff:169.254.169.254]/',
      'https://[::ffff:a9fe:a9fe]/',
      'https://[fd00:ec2::254]/',
      'https://0.0.0.0/',
      'https://[::]/',
      'https://224.0.0.1/',
      'https://255.255.255.255/',
    ])
      assert.throws(() => parseOutboundAddress(address), { code: 'address_refused' }, address);
  });

  test('a name is refused by what it resolves to', async () => {
    const look = (name: string, plainHttp: boolean) =>
      new Promise<LookupAddress[]>((resolve, reject) => {
        guardedLookup(plainHttp)(name, { all: true }, (error, found) =>
          error === null ? resolve(found as LookupAddress[]) : reject(error),
        );
      });
    assert.ok((await look('localhost', true)).length > 0);
    await assert.rejects(look('169.254.169.254', false), { code: 'address_refused' });
    await assert.rejects(look('10.0.0.7', true), { code: 'address_refused' });
    assert.deepEqual(await look('10.0.0.7', false), [{ address: '10.0.0.7', family: 4 }]);
  });
});

test('retry-after: seconds, or a date; anything else is nothing', () => {
  const now = new Date('2026-01-10T08:00:00Z');
  assert.equal(parseRetryAfter('7', now), 7_000);
  assert.equal(parseRetryAfter(' 0 ', now), 0);
  assert.equal(parseRetryAfter('Sat, 10 Jan 2026 08:00:30 GMT', now), 30_000);
  assert.equal(parseRetryAfter('Sat, 10 Jan 2026 07:00:00 GMT', now), 0);
  for (const value of [undefined, '', 'soon', '-3', '1.5', '9999999999'])
    assert.equal(parseRetryAfter(value, now), undefined, String(value));
});

import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import type { LookupAddress } from 'node:dns';
import { describe, test } from 'node:test';
import { guardedLookup, parseOutboundAddress, type Reach } from './outbound-address.ts';

describe('addresses that may be sent to', () => {
  test('https anywhere, http to this machine [SEC-24]', () => {
    for (const address of [
      'https://fhir.example.org/r4',
      'https://10.0.0.7:8443/fhir',
      'https://[2001:db8::1]/fhir',
      'http://localhost:8080/fhir',
      'http://127.0.0.1/fhir',
      'http://127.9.9.9/fhir',
      'http://[::1]:8080/fhir',
      'https://[64:ff9b:1::10.0.0.7]/fhir',
      'https://[64:ff9b:1:a00:0:700::]/fhir',
      'https://[64:ff9b:1:fffe::10.0.0.7]/fhir',
      'https://[64:ff9b:1:ff0a:0:7::]/fhir',
      'https://[64:ff9b:1:ffff:a:0:700:0]/fhir',
      'https://[fd00::5efe:10.0.0.7]/fhir',
    ])
      assert.equal(parseOutboundAddress(address, 'operator').href, new URL(address).href);
  });

  test('nothing else [SEC-24]', () => {
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
      'https://[64:ff9b::a9fe:a9fe]/', // 169.254.169.254 behind NAT64
      'https://[2002:a9fe:a9fe::1]/', // and 6to4
      'https://[::a9fe:a9fe]/',
      'https://[64:ff9b:1::a9fe:a9fe]/', // local-use NAT64, whatever the length of its prefix
      'https://[64:ff9b:1:abcd::169.254.169.254]/',
      'https://[64:ff9b:1:a9fe:a9:fe00::]/',
      'https://[64:ff9b:1:ffa9:fe:a9fe::]/',
      'https://[64:ff9b:1:ffff:a9:fea9:fe00:0]/',
      'https://[::ffff:0:169.254.169.254]/', // translated
      'https://[::5efe:169.254.169.254]/', // ISATAP
      'https://[fd00::200:5efe:169.254.169.254]/',
      'http://[64:ff9b::7f00:1]/', // a gateway elsewhere, not this machine
      'http://[2002:7f00:1::]/',
      'https://fhir.example.org/a\nb',
      'https://fhir.example.org/a\r\nb',
      'https://fhir.exa\tmple.org/',
      'https://fhir.example.org/\n',
      'https://fhir.example.org/\u0085',
    ])
      assert.throws(() => parseOutboundAddress(address, 'operator'), { code: 'address_refused' }, address);
  });

  test('a name is refused by what it resolves to [SEC-24]', async () => {
    assert.ok((await look('localhost', true)).length > 0);
    await assert.rejects(look('169.254.169.254', false), { code: 'address_refused' });
    await assert.rejects(look('64:ff9b::a9fe:a9fe', false), { code: 'address_refused' });
    await assert.rejects(look('10.0.0.7', true), { code: 'address_refused' });
    assert.deepEqual(await look('10.0.0.7', false), [{ address: '10.0.0.7', family: 4 }]);
  });
});

describe('addresses that an administrator may set over HTTP', () => {
  const inside = [
    '127.0.0.1',
    '127.255.0.9',
    '10.0.0.7',
    '172.16.0.1',
    '172.31.255.254',
    '192.168.1.1',
    '100.64.0.1',
    '169.254.169.254',
    '0.0.0.0',
    '192.0.2.1',
    '198.18.0.1',
    '198.51.100.7',
    '203.0.113.7',
    '224.0.0.1',
    '255.255.255.255',
    '168.63.129.16',
    '64:ff9b::168.63.129.16',
    '::ffff:0:10.0.0.7',
    '::ffff:0:8.8.8.8',
    '2606:2800:21f::5efe:10.0.0.7',
    '2606:2800:21f:0:200:5efe:127.0.0.1',
    '::',
    '::1',
    '::127.0.0.1',
    '::ffff:10.0.0.7',
    '::ffff:7f00:1',
    '64:ff9b::10.0.0.7',
    '64:ff9b::7f00:1',
    '64:ff9b:1::808:808',
    '2002:a00:7::1',
    '2002:7f00:1::',
    'fc00::1',
    'fd12:3456:789a::1',
    'fe80::1',
    'fec0::1',
    'ff02::1',
    '2001:db8::1',
    '2001::1',
    '3fff::1',
  ];
  const outside = [
    '93.184.215.14',
    '172.32.0.1',
    '2606:2800:21f::1',
    '64:ff9b::808:808',
    '2002:808:808::1',
    '2606:2800:21f::5efe:8.8.8.8',
  ];
  const bracketed = (address: string) => (address.includes(':') ? `[${address}]` : address);

  test('are of the public internet [SEC-25]', () => {
    for (const address of outside)
      assert.ok(parseOutboundAddress(`https://${bracketed(address)}:8443/in`, 'public'), address);
    assert.equal(parseOutboundAddress('https://HIE.example.org', 'public').href, 'https://hie.example.org/');
    for (const address of inside)
      for (const scheme of ['https', 'http'])
        assert.throws(
          () => parseOutboundAddress(`${scheme}://${bracketed(address)}/in`, 'public'),
          { code: 'address_refused' },
          address,
        );
    for (const text of [
      'http://hie.example.org/in',
      'http://localhost/in',
      'https://localhost/in',
      'https://localhost./in',
      'https://a.localhost/in',
      'https://2130706433/in', // 127.0.0.1 as one number
      'https://0x7f.1/in',
      'https://127.0.0.1./in',
      'https://hie.example.org/in\n',
    ])
      assert.throws(() => parseOutboundAddress(text, 'public'), { code: 'address_refused' }, text);
  });

  test('and are looked at again when the name is resolved to connect [SEC-25]', async () => {
    for (const address of inside)
      await assert.rejects(look(address, false, 'public'), { code: 'address_refused' }, address);
    await assert.rejects(look('localhost', false, 'public'), { code: 'address_refused' });
    for (const address of outside) assert.equal((await look(address, false, 'public')).length, 1);
  });
});

test('who shares a look-up goes on in the trace of its own', async () => {
  const trace = new AsyncLocalStorage<string>();
  const lookUp = guardedLookup(true, 'operator');
  const seen = ['one', 'other'].map((name) =>
    trace.run(name, async () => {
      const { promise, resolve } = Promise.withResolvers<string | undefined>();
      lookUp('localhost', {}, () => resolve(trace.getStore()));
      return promise;
    }),
  );
  assert.deepEqual(await Promise.all(seen), ['one', 'other']);
});

function look(name: string, plainHttp: boolean, reach: Reach = 'operator'): Promise<LookupAddress[]> {
  return new Promise((resolve, reject) => {
    guardedLookup(plainHttp, reach)(name, { all: true }, (error, found) =>
      error === null ? resolve(found as LookupAddress[]) : reject(error),
    );
  });
}

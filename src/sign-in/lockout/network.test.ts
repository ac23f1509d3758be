import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { networkOf, networkOfRange } from './network.ts';

test('IPv4 counts by /24, also inside IPv6 [SEC-2]', () => {
  assert.equal(networkOf('192.0.2.7'), '192.0.2.0/24');
  assert.equal(networkOf('192.0.2.250'), networkOf('192.0.2.7'));
  assert.notEqual(networkOf('192.0.3.7'), networkOf('192.0.2.7'));
  assert.equal(networkOf('::ffff:192.0.2.7'), '192.0.2.0/24');
});

test('IPv6 counts by /64, however it is written [SEC-2]', () => {
  for (const address of [
    '2001:db8::1',
    '2001:0DB8:0:0:1:2:3:4',
    '2001:db8:0:0::ffff',
    '2001:db8::7%eth0',
    '2001:db8::7%eth0.100',
    '2001:db8::7%br-lan',
  ])
    assert.equal(networkOf(address), '2001:db8:0:0::/64', address);
  assert.equal(networkOf('2001:db8:0:1::1'), '2001:db8:0:1::/64');
  assert.equal(networkOf('::1'), '0:0:0:0::/64');
  assert.equal(networkOf('64:ff9b::192.0.2.7'), '64:ff9b:0:0::/64');
});

test('a port behind the address, which some proxies forward, makes no other network [SEC-2]', () => {
  for (const address of ['192.0.2.7:49152', '[::ffff:192.0.2.7]:1', '::ffff:192.0.2.7'])
    assert.equal(networkOf(address), '192.0.2.0/24', address);
  for (const address of ['[2001:db8::1]:443', '[2001:db8::1]'])
    assert.equal(networkOf(address), '2001:db8:0:0::/64', address);
});

test('anything else is one network, never an error', () => {
  fc.assert(fc.property(fc.string(), (text) => assert.ok(networkOf(text).length > 0)));
  assert.equal(networkOf(''), 'unknown');
});

test('addresses that share 24 or 64 bits share a network, and only those', () => {
  fc.assert(
    fc.property(fc.ipV4(), fc.ipV4(), (one, other) => {
      const same = one.split('.').slice(0, 3).join('.') === other.split('.').slice(0, 3).join('.');
      assert.equal(networkOf(one) === networkOf(other), same);
    }),
  );
  const group = fc.integer({ min: 0, max: 0xffff }).map((value) => value.toString(16));
  const eight = fc.array(group, { minLength: 8, maxLength: 8 });
  fc.assert(
    fc.property(eight, eight, (one, other) => {
      const same = one.slice(0, 4).join(':') === other.slice(0, 4).join(':');
      assert.equal(networkOf(one.join(':')) === networkOf(other.join(':')), same);
    }),
  );
});

test('an address or a range inside one network names that network; anything wider names none', () => {
  const networks: Record<string, string | undefined> = {
    '192.0.2.7': '192.0.2.0/24',
    '192.0.2.0/24': '192.0.2.0/24',
    '192.0.2.64/26': '192.0.2.0/24',
    '2001:db8::1': '2001:db8:0:0::/64',
    '2001:DB8::/64': '2001:db8:0:0::/64',
    '2001:db8::1/128': '2001:db8:0:0::/64',
    '192.0.2.0/23': undefined,
    '2001:db8::/48': undefined,
    '::ffff:192.0.2.7/120': undefined,
    '192.0.2.0/33': undefined,
    '192.0.2.0/': undefined,
    '192.0.2.0/24/24': undefined,
    here: undefined,
  };
  for (const [text, network] of Object.entries(networks)) assert.equal(networkOfRange(text), network, text);
});

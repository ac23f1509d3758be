/** Which addresses this service may send to (SECURITY.md: server-side request forgery). */
import type { LookupAddress, LookupOptions } from 'node:dns';
import { lookup as resolve } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';

/** An address that must not be used; the message says what to change. */
export class AddressRefusedError extends Error {
  override name = 'AddressRefusedError';
  readonly code = 'address_refused';
}

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

/** Link-local (cloud metadata services live there), unspecified, multicast and broadcast. */
const REFUSED = new BlockList();
REFUSED.addSubnet('169.254.0.0', 16, 'ipv4');
REFUSED.addSubnet('0.0.0.0', 8, 'ipv4');
REFUSED.addSubnet('224.0.0.0', 4, 'ipv4');
REFUSED.addSubnet('240.0.0.0', 4, 'ipv4');
REFUSED.addSubnet('fe80::', 10, 'ipv6');
REFUSED.addSubnet('ff00::', 8, 'ipv6');
REFUSED.addAddress('::', 'ipv6');
// The metadata service of one large cloud over IPv6.
REFUSED.addAddress('fd00:ec2::254', 'ipv6');

/**
 * The address as a URL. Throws AddressRefusedError unless it is https (or http to loopback), has no user, no
 * fragment, and does not name a link-local address.
 */
export function parseOutboundAddress(text: string): URL {
  const url = URL.parse(text);
  if (url === null || !['https:', 'http:'].includes(url.protocol))
    throw new AddressRefusedError(
      'The address must be an https URL, such as https://exchange.example.org/path.',
    );
  if (url.username !== '' || url.password !== '' || url.hash !== '')
    throw new AddressRefusedError('The address must have no user, password or fragment.');
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0) requireAllowed(host, url.protocol === 'http:');
  else if (url.protocol === 'http:' && host !== 'localhost') throw plainText();
  return url;
}

/**
 * A DNS lookup that refuses a name when any address it resolves to is refused; for plain http, when any is not
 * loopback. Given to the socket, so that what was checked is what is connected to.
 */
export function guardedLookup(plainHttp: boolean): LookupFunction {
  return (hostname, options, callback) => {
    const all: LookupOptions = { ...options, all: true };
    resolve(hostname, all, (error, found) => {
      if (error !== null) return callback(error, '', 0);
      const addresses = found as unknown as LookupAddress[];
      try {
        for (const { address } of addresses) requireAllowed(address, plainHttp);
      } catch (refused) {
        return callback(refused as NodeJS.ErrnoException, '', 0);
      }
      const [first] = addresses;
      if (options.all === true || first === undefined) return callback(null, addresses as never, 0);
      return callback(null, first.address, first.family);
    });
  };
}

function requireAllowed(address: string, plainHttp: boolean): void {
  const plain = unmapped(address);
  const family = isIP(plain) === 6 ? 'ipv6' : 'ipv4';
  if (REFUSED.check(plain, family))
    throw new AddressRefusedError('The address leads to a link-local, unspecified or multicast address.');
  if (plainHttp && !LOOPBACK.check(plain, family)) throw plainText();
}

/** The IPv4 address inside `::ffff:a.b.c.d`, in dotted or hexadecimal form. */
function unmapped(address: string): string {
  const dotted = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (dotted !== undefined) return dotted;
  const hex = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/i.exec(address);
  if (hex === null) return address;
  const bits = Number.parseInt(hex[1] ?? '', 16) * 65_536 + Number.parseInt(hex[2] ?? '', 16);
  return [24, 16, 8, 0].map((shift) => Math.floor(bits / 2 ** shift) % 256).join('.');
}

function plainText(): AddressRefusedError {
  return new AddressRefusedError('Outside this machine TLS is needed: use an https address.');
}

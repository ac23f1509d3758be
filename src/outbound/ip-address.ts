/**
 * What an IP address stands for: the IPv4 address that an IPv6 one carries, and whether it is on the public
 * internet.
 * Contract: SEC-24.
 */
import ipaddr from 'ipaddr.js';

/** The host that a machine runs on, in one large cloud; it lies in a public range. */
const CLOUD_HOST = '168.63.129.16';
/** The range that addresses of the public internet are given out from (RFC 4291 section 2.4). */
const GIVEN_OUT_IPV6: [ipaddr.IPv6, number] = ipaddr.IPv6.parseCIDR('2000::/3');
/** Documentation and protocols of their own within it (RFC 9637, RFC 2928), which the library takes for ordinary. */
const SPECIAL_IPV6 = ['3fff::/20', '2001::/23'].map((range) => ipaddr.IPv6.parseCIDR(range));

/** The address without its zone, and the IPv4 address itself for an IPv4-mapped one (`::ffff:a.b.c.d`). */
export function plainAddress(address: string): string {
  const [bare = ''] = address.split('%');
  return ipaddr.process(bare).toString();
}

/**
 * The IPv4 addresses that packets to an IPv6 address may end up at: IPv4-compatible (RFC 4291 section 2.5.5.1), NAT64
 * (RFC 6052), also of a local prefix (RFC 8215), 6to4 (RFC 3056), translated (RFC 2765) or ISATAP (RFC 5214). Empty for
 * any other. Takes a {@link plainAddress}.
 */
export function embeddedIpv4(address: string): string[] {
  const parsed = ipaddr.parse(address);
  if (parsed instanceof ipaddr.IPv4) return [];
  const gateway = behindPublicGateway(parsed);
  if (gateway !== undefined) return [gateway];
  if (startsWith(parsed, LOCAL_NAT64)) return behindLocalNat64(parsed);
  return parsed.range() === 'rfc6145' || isIsatap(parsed) ? [ipv4At(parsed, 12)] : [];
}

/** Whether the address is one of the public internet. Takes a {@link plainAddress}. */
export function isPublicAddress(address: string): boolean {
  const parsed = ipaddr.parse(address);
  if (parsed instanceof ipaddr.IPv4) return parsed.range() === 'unicast' && address !== CLOUD_HOST;
  const carried = behindPublicGateway(parsed);
  if (carried !== undefined) return isPublicAddress(carried);
  const isGivenOut = parsed.range() === 'unicast' && parsed.match(GIVEN_OUT_IPV6);
  const isSpecial = SPECIAL_IPV6.some((range) => parsed.match(range));
  return isGivenOut && !isSpecial && embeddedIpv4(address).every(isPublicAddress);
}

const LOCAL_NAT64 = [0x64, 0xff9b, 1];

/** Of an IPv6 address that stands for a public one where the IPv4 address is public. */
function behindPublicGateway(address: ipaddr.IPv6): string | undefined {
  const range = address.range();
  if (range === '6to4') return ipv4At(address, 2);
  if (range === 'rfc6052' && !startsWith(address, LOCAL_NAT64)) return ipv4At(address, 12);
  // `::` and `::1` are addresses of their own.
  const isOwn = range === 'unspecified' || range === 'loopback';
  return startsWith(address, [0, 0, 0, 0, 0, 0]) && !isOwn ? ipv4At(address, 12) : undefined;
}

/**
 * Where the prefix of a local NAT64 ends is not known: 48, 56, 64 or 96 bits (RFC 6052 section 2.2; bits 64 to 71 are
 * left out). Bits of a longer prefix may look like anything, so that in the other places only a link-local address
 * counts.
 */
function behindLocalNat64(address: ipaddr.IPv6): string[] {
  const bytes = address.toByteArray();
  const inside = [
    [6, 7, 9, 10],
    [7, 9, 10, 11],
    [9, 10, 11, 12],
  ].map((place) => place.map((index) => bytes[index]).join('.'));
  const linkLocal = inside.filter((ipv4) => ipv4.startsWith('169.254.'));
  // With a shorter prefix the end is zeros or the last of the address.
  const last = ipv4At(address, 12);
  return last.startsWith('0.') || last.endsWith('.0.0.0') ? linkLocal : [...linkLocal, last];
}

/** An interface identifier of ISATAP, of a global or a local IPv4 address. */
function isIsatap({ parts }: ipaddr.IPv6): boolean {
  return (parts[4] === 0 || parts[4] === 0x200) && parts[5] === 0x5efe;
}

function startsWith({ parts }: ipaddr.IPv6, start: readonly number[]): boolean {
  return start.every((part, index) => parts[index] === part);
}

/** The four bytes from this one on. */
function ipv4At(address: ipaddr.IPv6, index: number): string {
  return address
    .toByteArray()
    .slice(index, index + 4)
    .join('.');
}

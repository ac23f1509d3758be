/**
 * What an IP address stands for: the IPv4 address that an IPv6 one carries, and whether it is on the public
 * internet.
 * Contract: SEC-24.
 */
import { BlockList, isIPv6 } from 'node:net';

/**
 * Not reachable from the public internet, or not one host (IANA IPv4 special-purpose registry, RFC 6890); and
 * 168.63.129.16, which in one large cloud is the host that a machine runs on.
 */
const SPECIAL_IPV4 = new BlockList();
for (const [network, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['168.63.129.16', 32],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const)
  SPECIAL_IPV4.addSubnet(network, bits, 'ipv4');

/** The addresses that are given out (RFC 4291 section 2.4) … */
const GLOBAL_IPV6 = new BlockList();
GLOBAL_IPV6.addSubnet('2000::', 3, 'ipv6');
/** … but for protocols of their own (RFC 2928, Teredo among them) and documentation (RFC 3849, RFC 9637). */
const SPECIAL_IPV6 = new BlockList();
SPECIAL_IPV6.addSubnet('2001::', 23, 'ipv6');
SPECIAL_IPV6.addSubnet('2001:db8::', 32, 'ipv6');
SPECIAL_IPV6.addSubnet('3fff::', 20, 'ipv6');

/** The address without its zone, and the IPv4 address itself for an IPv4-mapped one (`::ffff:a.b.c.d`). */
export function plainAddress(address: string): string {
  const [bare = ''] = address.split('%');
  if (!isIPv6(bare)) return bare;
  const groups = groupsOf(bare);
  return startsWith(groups, [0, 0, 0, 0, 0, 0xffff]) ? ipv4At(groups, 6) : bare;
}

/**
 * The IPv4 addresses that packets to an IPv6 address may end up at: IPv4-compatible (RFC 4291 section 2.5.5.1), NAT64
 * (RFC 6052), also of a local prefix (RFC 8215), 6to4 (RFC 3056), translated (RFC 2765) or ISATAP (RFC 5214). Empty for
 * any other. Takes a {@link plainAddress}.
 */
export function embeddedIpv4(address: string): string[] {
  if (!isIPv6(address)) return [];
  const groups = groupsOf(address);
  const gateway = behindPublicGateway(groups);
  if (gateway !== undefined) return [gateway];
  if (startsWith(groups, LOCAL_NAT64)) return behindLocalNat64(groups);
  if (startsWith(groups, [0, 0, 0, 0, 0xffff, 0]) || isIsatap(groups)) return [ipv4At(groups, 6)];
  return [];
}

const LOCAL_NAT64 = [0x64, 0xff9b, 1];

/** Of an IPv6 address that stands for a public one where the IPv4 address is public. */
function behindPublicGateway(groups: readonly number[]): string | undefined {
  if (startsWith(groups, [0x2002])) return ipv4At(groups, 1);
  if (startsWith(groups, [0x64, 0xff9b, 0, 0, 0, 0])) return ipv4At(groups, 6);
  const low = startsWith(groups, [0, 0, 0, 0, 0, 0]) ? ipv4At(groups, 6) : undefined;
  // `::` and `::1` are addresses of their own.
  return low === '0.0.0.0' || low === '0.0.0.1' ? undefined : low;
}

/**
 * Where the prefix of a local NAT64 ends is not known: 48, 56, 64 or 96 bits (RFC 6052 section 2.2; bits 64 to 71 are
 * left out). Bits of a longer prefix may look like anything, so that in the other places only a link-local address
 * counts.
 */
function behindLocalNat64(groups: readonly number[]): string[] {
  const bytes = groups.flatMap((group) => [group >> 8, group & 255]);
  const inside = [
    [6, 7, 9, 10],
    [7, 9, 10, 11],
    [9, 10, 11, 12],
  ].map((place) => place.map((index) => bytes[index]).join('.'));
  const linkLocal = inside.filter((ipv4) => ipv4.startsWith('169.254.'));
  // With a shorter prefix the end is zeros or the last of the address.
  const last = ipv4At(groups, 6);
  return last.startsWith('0.') || last.endsWith('.0.0.0') ? linkLocal : [...linkLocal, last];
}

/** An interface identifier of ISATAP, of a global or a local IPv4 address. */
function isIsatap(groups: readonly number[]): boolean {
  return (groups[4] === 0 || groups[4] === 0x200) && groups[5] === 0x5efe;
}

/** Whether the address is one of the public internet. Takes a {@link plainAddress}. */
export function isPublicAddress(address: string): boolean {
  if (!isIPv6(address)) return !SPECIAL_IPV4.check(address, 'ipv4');
  const carried = behindPublicGateway(groupsOf(address));
  if (carried !== undefined) return isPublicAddress(carried);
  const given = GLOBAL_IPV6.check(address, 'ipv6') && !SPECIAL_IPV6.check(address, 'ipv6');
  return given && embeddedIpv4(address).every(isPublicAddress);
}

/** The eight groups of an IPv6 address in any of its spellings. */
function groupsOf(address: string): number[] {
  const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [head = [], tail = []] = canonical
    .split('::')
    .map((part) => (part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16))));
  return [...head, ...Array<number>(8 - head.length - tail.length).fill(0), ...tail];
}

function startsWith(groups: readonly number[], start: readonly number[]): boolean {
  return start.every((group, index) => groups[index] === group);
}

function ipv4At(groups: readonly number[], index: number): string {
  const [high = 0, low = 0] = groups.slice(index, index + 2);
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}

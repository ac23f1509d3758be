/** What an IP address stands for: the IPv4 address that an IPv6 one carries, and whether it is on the public internet. */
import { BlockList, isIPv6 } from 'node:net';

/** Not reachable from the public internet, or not one host (IANA IPv4 special-purpose registry, RFC 6890). */
const SPECIAL_IPV4 = new BlockList();
for (const [network, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
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
 * The IPv4 address that packets to an IPv6 address may end up at: IPv4-compatible (RFC 4291 section 2.5.5.1), NAT64
 * (RFC 6052) or 6to4 (RFC 3056). Undefined for any other. Takes a {@link plainAddress}.
 */
export function embeddedIpv4(address: string): string | undefined {
  if (!isIPv6(address)) return undefined;
  const groups = groupsOf(address);
  if (startsWith(groups, [0x2002])) return ipv4At(groups, 1);
  if (startsWith(groups, [0x64, 0xff9b, 0, 0, 0, 0])) return ipv4At(groups, 6);
  const low = startsWith(groups, [0, 0, 0, 0, 0, 0]) ? ipv4At(groups, 6) : undefined;
  // `::` and `::1` are addresses of their own.
  return low === '0.0.0.0' || low === '0.0.0.1' ? undefined : low;
}

/** Whether the address is one of the public internet. Takes a {@link plainAddress}. */
export function isPublicAddress(address: string): boolean {
  if (!isIPv6(address)) return !SPECIAL_IPV4.check(address, 'ipv4');
  const carried = embeddedIpv4(address);
  if (carried !== undefined) return isPublicAddress(carried);
  return GLOBAL_IPV6.check(address, 'ipv6') && !SPECIAL_IPV6.check(address, 'ipv6');
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

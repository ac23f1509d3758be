/** The network that an address belongs to, as locks count it: IPv4 /24, IPv6 /64. Contract: SEC-2. */
import { isIP, isIPv4, isIPv6 } from 'node:net';

/** `192.0.2.0/24`, `2001:db8:0:1::/64`; an IPv4 address inside IPv6 counts as IPv4; anything else is one network. */
export function networkOf(address: string): string {
  const [plain = ''] = address.replace(/^::ffff:(?=\d+\.)/i, '').split('%');
  if (isIPv4(plain)) return `${plain.split('.').slice(0, 3).join('.')}.0/24`;
  if (isIPv6(plain)) return `${firstFourGroups(plain)}::/64`;
  return 'unknown';
}

/** The network that an address, or a CIDR range inside one network, lies in; undefined for any other text. */
export function networkOfRange(text: string): string | undefined {
  const [address = '', bits, ...rest] = text.split('/');
  if (rest.length > 0 || isIP(address) === 0) return undefined;
  if (bits === undefined) return networkOf(address);
  // An IPv4 address inside IPv6 counts as IPv4: its bits would be counted from elsewhere.
  const [least, most] = isIPv4(address) ? [24, 32] : address.includes('.') ? [1, 0] : [64, 128];
  return /^\d{1,3}$/.test(bits) && Number(bits) >= least && Number(bits) <= most
    ? networkOf(address)
    : undefined;
}

function firstFourGroups(address: string): string {
  const [head = '', tail] = address.toLowerCase().split('::');
  const groups = head === '' ? [] : head.split(':');
  if (tail !== undefined) {
    const after = tail === '' ? [] : tail.split(':');
    // A dotted quad at the end stands for two groups.
    const afterLength = after.length + (tail.includes('.') ? 1 : 0);
    groups.push(...Array.from({ length: 8 - groups.length - afterLength }, () => '0'), ...after);
  }
  return groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':');
}

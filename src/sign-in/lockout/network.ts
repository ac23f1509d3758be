/** The network that an address belongs to, as locks count it: IPv4 /24, IPv6 /64. Contract: SEC-2. */
import { isIP, isIPv4 } from 'node:net';
import ipaddr from 'ipaddr.js';

/** As some proxies forward it, with the port of their client or in brackets: `192.0.2.7:49152`, `[2001:db8::1]:443`. */
const FORWARDED = /^(?:\[(?<v6>[^\]]*)\](?::\d+)?|(?<v4>[\d.]+):\d+)$/;

/** `192.0.2.0/24`, `2001:db8:0:1::/64`; an IPv4 address inside IPv6 counts as IPv4; anything else is one network. */
export function networkOf(text: string): string {
  const { v6, v4 } = FORWARDED.exec(text)?.groups ?? {};
  const address = v6 ?? v4 ?? text;
  if (isIP(address) === 0) return 'unknown';
  const [bare = ''] = address.split('%');
  const plain = ipaddr.process(bare);
  if (plain instanceof ipaddr.IPv4) return `${plain.octets.slice(0, 3).join('.')}.0/24`;
  const groups = plain.parts.slice(0, 4).map((part) => part.toString(16));
  return `${groups.join(':')}::/64`;
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

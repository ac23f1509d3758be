/**
 * Which addresses this service may send to (SECURITY.md: server-side request forgery).
 * Contract: SEC-24, SEC-25.
 */

import { AsyncResource } from 'node:async_hooks';
import type { LookupAddress, LookupOptions } from 'node:dns';
import { lookup as resolve } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import type { Words } from '../platform/words/words.ts';
import { embeddedIpv4, isPublicAddress, plainAddress } from './ip-address.ts';

/**
 * Who set an address: `operator`, who may name hosts of the own network; `public`, set over HTTP by an administrator,
 * who may name hosts of the public internet only (docs/adr/0052).
 */
export type Reach = 'operator' | 'public';

/** An address that must not be used; the words say what to change. */
export class AddressRefusedError extends Error {
  override name = 'AddressRefusedError';
  readonly code = 'address_refused';
  readonly words: Words;

  constructor(words: Words) {
    super(words.en);
    this.words = words;
  }
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
 * The address as a URL; its `href` is what to keep. Throws AddressRefusedError unless it is https, has no line break,
 * no user and no fragment, and does not name a link-local address. `operator` may also name this machine, by http too;
 * `public` may name neither it nor any other address that is not on the public internet.
 */
export function parseOutboundAddress(text: string, reach: Reach): URL {
  const url = URL.parse(text);
  if (url === null || !['https:', 'http:'].includes(url.protocol))
    throw new AddressRefusedError({
      en: 'The address must be an https URL, such as https://partner.example.org/path.',
      fr: 'L’adresse doit être une URL https, par exemple https://partner.example.org/path.',
    });
  // A URL parser leaves line breaks and tabs out without a word: what is stored would not be what is sent to.
  if (/\p{Cc}/u.test(text))
    throw new AddressRefusedError({
      en: 'The address must not contain a line break or a tab.',
      fr: 'L’adresse ne doit contenir ni saut de ligne ni tabulation.',
    });
  if (url.username !== '' || url.password !== '' || url.hash !== '')
    throw new AddressRefusedError({
      en: 'The address must not contain a user, a password or a fragment.',
      fr: 'L’adresse ne doit contenir ni utilisateur, ni mot de passe, ni fragment.',
    });
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const plainHttp = url.protocol === 'http:';
  if (reach === 'public' && (plainHttp || /(^|\.)localhost\.?$/.test(host))) throw notPublic();
  if (isIP(host) !== 0) requireAllowed(host, { plainHttp, reach });
  else if (plainHttp && host !== 'localhost') throw plainText();
  return url;
}

/**
 * A DNS lookup that refuses a name when any address it resolves to is refused; for plain http, when any is not
 * loopback. Given to the socket, so that what was checked is what is connected to, whatever the name said before.
 */
export function guardedLookup(plainHttp: boolean, reach: Reach): LookupFunction {
  const lookUp = sharedLookup();
  return (hostname, options, callback) => {
    lookUp(hostname, options, (error, addresses) => {
      if (error !== null) return callback(error, '', 0);
      try {
        for (const { address } of addresses) requireAllowed(address, { plainHttp, reach });
      } catch (refused) {
        return callback(refused as NodeJS.ErrnoException, '', 0);
      }
      const [first] = addresses;
      if (options.all === true || first === undefined) return callback(null, addresses as never, 0);
      return callback(null, first.address, first.family);
    });
  };
}

type Found = (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void;

/**
 * Those who wait for the same name wait for one look-up. Node.js looks up two names at a time, and ends none of them
 * before the name server answers: requests to one name would keep back every other name, also that of the database.
 */
function sharedLookup(): (hostname: string, options: LookupOptions, found: Found) => void {
  const waiting = new Map<string, Found[]>();
  return (hostname, options, found) => {
    const all: LookupOptions & { all: true } = { ...options, all: true };
    const key = JSON.stringify([hostname, all]);
    const others = waiting.get(key);
    // Bound: what follows belongs to the trace of who asked.
    if (others !== undefined) return void others.push(AsyncResource.bind(found));
    const own = [found];
    waiting.set(key, own);
    resolve(hostname, all, (error, addresses) => {
      waiting.delete(key);
      for (const one of own) one(error, addresses);
    });
  };
}

function requireAllowed(address: string, by: { plainHttp: boolean; reach: Reach }): void {
  const plain = plainAddress(address);
  if (by.reach === 'public' && !isPublicAddress(plain)) throw notPublic();
  // Whom an address leads to may stand inside it; whether it is this machine does not.
  if ([plain, ...embeddedIpv4(plain)].some((one) => isIn(REFUSED, one)))
    throw new AddressRefusedError({
      en: 'The address points to a link-local, unspecified or multicast address, which the service never calls. Give another one.',
      fr: 'L’adresse mène à une adresse de lien local, non spécifiée ou de multidiffusion, que le service n’appelle jamais. Donnez-en une autre.',
    });
  if (by.plainHttp && !isIn(LOOPBACK, plain)) throw plainText();
}

function isIn(list: BlockList, address: string): boolean {
  return list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
}

function plainText(): AddressRefusedError {
  return new AddressRefusedError({
    en: 'Only addresses of this machine may use http. Use an https address.',
    fr: 'Seules les adresses de cette machine peuvent utiliser http. Utilisez une adresse https.',
  });
}

function notPublic(): AddressRefusedError {
  return new AddressRefusedError({
    en:
      'An address set in the console or over HTTP must be https and point to the public internet, not to this machine or a private network. ' +
      'An operator can set other addresses on the command line.',
    fr:
      'Une adresse définie dans la console ou par HTTP doit être en https et mener à l’internet public, et non à cette machine ou à un réseau privé. ' +
      'Un opérateur peut définir d’autres adresses en ligne de commande.',
  });
}

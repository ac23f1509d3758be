/** Whom passkeys are made for: the name and the origins of this service (WebAuthn Level 3). Contract: SIGN-IN-62. */
import { isIP } from 'node:net';
import { isLoopback } from '../console/console-address.ts';
import { signInError } from '../errors.ts';

export interface PasskeyParty {
  /** The host that passkeys belong to. */
  rpId: string;
  /** Of the pages that may use them. */
  origins: string[];
}

/**
 * On loopback the host is `localhost`, at which browsers make passkeys without https; an IP address is no name. 409 where
 * the address of the service has no name.
 */
export function passkeyParty(publicBaseUrl: string): PasskeyParty {
  const url = new URL(publicBaseUrl);
  if (isLoopback(url)) {
    url.hostname = 'localhost';
    return { rpId: 'localhost', origins: [url.origin] };
  }
  if (isIP(url.hostname.replaceAll(/[[\]]/g, '')) !== 0) throw signInError('passkeys_unavailable');
  return { rpId: url.hostname, origins: [url.origin] };
}

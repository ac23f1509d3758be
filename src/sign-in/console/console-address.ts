/** Where people open the console. Contract: SIGN-IN-70. */
import { isIP } from 'node:net';

/**
 * Beside the API, behind a path prefix of a proxy too. On this machine it is given as `localhost`: a passkey belongs to a
 * name, and an IP address is none.
 */
export function consoleAddress(publicBaseUrl: string): string {
  const url = new URL('../../console/', `${publicBaseUrl}/`);
  if (isLoopback(url)) url.hostname = 'localhost';
  return url.href;
}

/** Whether it leads to the machine itself. */
export function isLoopback({ hostname }: URL): boolean {
  if (hostname === 'localhost' || hostname === '[::1]') return true;
  return isIP(hostname) === 4 && hostname.startsWith('127.');
}

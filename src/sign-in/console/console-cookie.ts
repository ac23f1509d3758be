/**
 * The cookie of a session of the console: where it is good, and how it is read.
 * Contract: SIGN-IN-51, SIGN-IN-52.
 */

import type { RequestHeaders } from '../../platform/http/route.ts';

export interface ConsoleCookie {
  name: string;
  /** What was sent; undefined when it was not, or more than once: then nobody knows which is ours. */
  read(headers: RequestHeaders): string | undefined;
  /** Values of `set-cookie`. A browser forgets the cookie when it is closed. */
  set(token: string): string;
  clear(): string;
}

/**
 * Over https the name binds the cookie to this host and to https (RFC 6265bis, prefix `__Host-`). Plain http, on
 * loopback, cannot have that: there the path keeps the cookie away from the other calls.
 */
export function createConsoleCookie(publicBaseUrl: string): ConsoleCookie {
  const url = new URL(publicBaseUrl);
  const isSecure = url.protocol === 'https:';
  const name = isSecure ? '__Host-interchange-session' : 'interchange-session';
  const path = isSecure ? '/' : new URL('../../console/', `${publicBaseUrl}/`).pathname;
  const attributes = `Path=${path}; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`;
  return {
    name,
    read({ cookie }) {
      if (typeof cookie !== 'string') return undefined;
      const values = cookie.split(';').flatMap((part) => {
        const [key, ...value] = part.trim().split('=');
        return key === name && value.length > 0 ? [value.join('=')] : [];
      });
      return values.length === 1 ? values[0] : undefined;
    },
    set: (token) => `${name}=${token}; ${attributes}`,
    clear: () => `${name}=; ${attributes}; Max-Age=0`,
  };
}

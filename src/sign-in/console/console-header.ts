/** The header of the console's calls: it tells them from calls of other pages, and says which a page makes by itself. */

import type { RequestHeaders } from '../../platform/http/route.ts';

/** Sent by scripts alone: a form or a link of another page cannot add a header. */
export const CONSOLE_HEADER = 'x-interchange-console';
/** What a page sends with a call that it makes by itself, again and again. It reads only: GET and HEAD need no header. */
const BY_ITSELF = 'background';

/** Whoever says so wrongly gains nothing: the session ends earlier. */
export function isMadeByItself(headers: RequestHeaders): boolean {
  return headers[CONSOLE_HEADER] === BY_ITSELF;
}

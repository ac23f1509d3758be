/**
 * The console at /console/. Every address that is no file of it answers with its page, whose own router reads the rest. A
 * file never changes under its name. Contract: SIGN-IN-47, SEC-29, WEB-1, WEB-2, WEB-3.
 */

import { HttpError, NO_SUCH_PATH, unavailable } from '../../platform/http/errors.ts';
import type { Reply, RequestContext, Route } from '../../platform/http/route.ts';
import { Type } from '../../platform/json-schema.ts';
import { type Access, openRoute } from '../../tenancy/callers/access.ts';
import type { ConsoleFile, ConsoleFiles } from './console-files.ts';

/** Nothing inline, nothing from elsewhere, no frame, and no form that a browser would send by itself. */
const SECURITY_HEADERS = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join('; '),
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
};
/**
 * Whatever somebody copied or typed, so that the page can say that there is no such one. What begins like a call of the
 * service is no page, however it is written.
 */
const PAGE_NAME = /^(?!api)(?:[^/\\\p{Cc}]+(?:\/[^/\\\p{Cc}]+)*\/?)?$/u;
const FOR_EVER = { 'cache-control': 'public, max-age=31536000, immutable', vary: 'accept-encoding' };

/** `/console` alone. The way is relative, so that it keeps the prefix of a proxy. */
export function consoleEntranceRoute(): Route<Access> {
  return openRoute({
    docs: { operationId: 'openConsole', summary: 'Lead to the console', tag: 'Console' },
    responses: { 308: { description: 'The console is at `/console/`.' } },
    handle: async () => ({ status: 308, headers: { location: 'console/', ...SECURITY_HEADERS } }),
  });
}

export function consolePageRoute(files: () => ConsoleFiles | undefined): Route<Access> {
  return openRoute({
    docs: { operationId: 'readConsole', summary: 'Show the console', tag: 'Console' },
    params: Type.Object({ '*': Type.String() }),
    responses: {
      200: {
        description: 'The page of the console, or a file of it',
        schema: Type.String(),
        mediaType: 'text/html; charset=utf-8',
      },
    },
    handle: async ({ params }, context) => answer(files(), params['*'], context),
  });
}

function answer(files: ConsoleFiles | undefined, name: string, { headers, target }: RequestContext): Reply {
  if (!PAGE_NAME.test(name)) throw new HttpError(404, 'not_found', NO_SUCH_PATH);
  if (files === undefined)
    throw unavailable(
      {
        en: 'The console is not built here. Ask the operator to run npm run console:build, then load this page again.',
        fr: 'La console n’est pas construite ici. Demandez à l’opérateur de lancer npm run console:build, puis rechargez cette page.',
      },
      60,
      'console_not_built',
    );
  if (!name.startsWith('assets/')) return page(files.index, target);
  const file = files.assets.get(name);
  if (file === undefined) throw new HttpError(404, 'not_found', NO_SUCH_PATH);
  return asset(file, String(headers['accept-encoding'] ?? ''));
}

/**
 * The page names its files relative to the console; below a deeper address the way to them is longer. Browsers count the
 * slashes of the address as it was sent: `%2F` is none.
 */
function page(index: string, target: string): Reply {
  const [path = ''] = target.split('?');
  const up = '../'.repeat(path.split('/').length - '/console/'.split('/').length);
  return {
    body: index.replaceAll('="./assets/', `="${up === '' ? './' : up}assets/`),
    contentType: 'text/html; charset=utf-8',
    headers: SECURITY_HEADERS,
  };
}

function asset({ contentType, plain, gzip, br }: ConsoleFile, accepted: string): Reply {
  const takes = (coding: string) =>
    new RegExp(`(^|[,\\s])${coding}\\s*(,|;\\s*q=(1|0\\.\\d*[1-9])|$)`).test(accepted);
  const headers = { ...SECURITY_HEADERS, ...FOR_EVER };
  if (br !== undefined && takes('br'))
    return { body: br, contentType, headers: { ...headers, 'content-encoding': 'br' } };
  if (gzip !== undefined && takes('gzip'))
    return { body: gzip, contentType, headers: { ...headers, 'content-encoding': 'gzip' } };
  return { body: plain, contentType, headers };
}

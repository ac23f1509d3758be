/**
 * The way in of the console: /console/api leads to the same routes as /api/v1, but there a cookie proves the caller, and
 * only calls that the console's own pages make are answered (docs/adr/0138). A browser that
 * asks for the address of the service is led to its pages.
 * Contract: SIGN-IN-52, SIGN-IN-55, SIGN-IN-56, WEB-72.
 */
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { namesMediaType } from '../../platform/http/content-type.ts';
import { forbidden, HttpError, NO_SUCH_PATH } from '../../platform/http/errors.ts';
import { CONSOLE_HEADER } from '../../sign-in/console/console-header.ts';

export const CONSOLE_PREFIX = '/console/api';
/** Routes that are registered below the prefix itself, not below that of the API. */
const OWN_ROUTES = /^\/(?:session|sessions|second-factor)(?:[/?]|$)/;

const rewritten = new WeakSet<IncomingMessage>();

declare module 'fastify' {
  interface FastifyContextConfig {
    /** `own`: reached at the console alone. `shared`: reached at both entrances. Else at the API alone. */
    console?: 'own' | 'shared';
  }
}

/** As plain text on purpose: an address that is written in another way stays as it is, and leads nowhere. */
export function consoleRewrite(apiPrefix: string): (request: { url?: string | undefined }) => string {
  return (request) => {
    const { url = '/' } = request;
    const path = url.startsWith(`${CONSOLE_PREFIX}/`) ? url.slice(CONSOLE_PREFIX.length) : undefined;
    if (path === undefined || OWN_ROUTES.test(path)) return url;
    rewritten.add(request as IncomingMessage);
    return apiPrefix + path;
  };
}

/** Whether the caller is to be proven by a cookie. It depends on the route too, however its address was written. */
export function isConsoleCall({ raw, routeOptions }: FastifyRequest): boolean {
  return rewritten.has(raw) || routeOptions.config.console === 'own';
}

/** Refuses what no page of the console sends, before anything else is looked at. */
export function guardConsole(server: FastifyInstance): void {
  server.addHook('onRequest', async (request, reply) => {
    if (!isConsoleCall(request)) {
      // No page of the console, but a call that no route takes with this method.
      if (request.url.startsWith(`${CONSOLE_PREFIX}/`)) return reply.callNotFound();
      return;
    }
    if (request.routeOptions.config.console === undefined)
      throw new HttpError(404, 'not_found', NO_SUCH_PATH);
    const { method, headers } = request;
    const site = headers['sec-fetch-site'];
    if (site !== undefined && site !== 'same-origin')
      throw forbidden(
        {
          en: 'A page of another site may not call the console.',
          fr: 'Une page d’un autre site ne peut pas appeler la console.',
        },
        'other_site',
      );
    if (method !== 'GET' && method !== 'HEAD' && headers[CONSOLE_HEADER] !== '1')
      throw forbidden(
        {
          en: `The header ${CONSOLE_HEADER}: 1 is missing. Send it.`,
          fr: `L’en-tête ${CONSOLE_HEADER}: 1 manque. Envoyez-le.`,
        },
        'console_header_missing',
      );
  });
}

/**
 * Where a browser is led that asks for the address of the service itself: to the console. A program that asks for it has the
 * wrong path. The way is relative, so that it keeps the prefix of a proxy.
 */
export function leadBrowsers({ method, url, headers }: FastifyRequest): string | undefined {
  if (method !== 'GET' && method !== 'HEAD') return undefined;
  if (url.split('?', 1)[0] !== '/') return undefined;
  return namesMediaType(headers.accept, ['text/html']) ? 'console/' : undefined;
}

/**
 * Who types the address of the service into a browser wants the console; a program there has the wrong path.
 * Contract: WEB-72.
 */
import type { FastifyRequest } from 'fastify';
import { namesMediaType } from '../../platform/http/content-type.ts';

/** Where a request that no route takes is led to. The way is relative, so that it keeps the prefix of a proxy. */
export function leadBrowsers({ method, url, headers }: FastifyRequest): string | undefined {
  if (method !== 'GET' && method !== 'HEAD') return undefined;
  if (url.split('?', 1)[0] !== '/') return undefined;
  return namesMediaType(headers.accept, ['text/html']) ? 'console/' : undefined;
}

/** A line of the route table. */
import type { ApiRoute, HttpMethod } from './http/register-route.ts';

export interface RouteEntry {
  method: HttpMethod;
  path: string;
  route: ApiRoute;
}

export function at(method: HttpMethod, path: string, route: ApiRoute): RouteEntry {
  return { method, path, route };
}

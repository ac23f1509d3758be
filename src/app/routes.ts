/** The table of contents: every method and path, and the route that answers it. */
import type { Features } from './features.ts';
import type { ApiRoute, HttpMethod } from './http/register-route.ts';

export interface RouteEntry {
  method: HttpMethod;
  path: string;
  route: ApiRoute;
}

/** Paths below {base_url}. */
export function apiRoutes(_features: Features): RouteEntry[] {
  return [];
}

/** Paths outside the version prefix. */
export function rootRoutes(_features: Features): RouteEntry[] {
  return [];
}

export function at(method: HttpMethod, path: string, route: ApiRoute): RouteEntry {
  return { method, path, route };
}

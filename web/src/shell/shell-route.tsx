/** Pages of signed-in people lie below this route: the layout, or the sign-in in its place. Contract: WEB-5. */
import { createRoute, type RouteComponent } from '@tanstack/react-router';
import type { PageDefinition } from '../app/page-definition.ts';
import { rootRoute } from '../app/root-route.tsx';
import { NotFound } from './not-found.tsx';
import { Shell } from './shell.tsx';

export const shellRoute = createRoute({ getParentRoute: () => rootRoute, id: 'shell', component: Shell });

/** Every address that leads to no page: who is signed in keeps the navigation. Contract: WEB-7. */
export const nowhereRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '$',
  component: NotFound,
});

type Validate<Search> = (raw: Record<string, unknown>) => Search;

interface PageRouteOptions<Path, Search> {
  path: Path;
  /** What the page keeps in its address; nothing where it is left out. */
  validateSearch?: Validate<Search>;
  page: PageDefinition;
  component: RouteComponent;
}

/** The route of a page below the shell. */
export function pageRoute<const Path extends string, Search extends object = object>({
  page,
  validateSearch,
  ...options
}: PageRouteOptions<Path, Search>) {
  return createRoute({
    getParentRoute: () => shellRoute,
    staticData: { page },
    validateSearch: validateSearch as Validate<Search>,
    ...options,
  });
}

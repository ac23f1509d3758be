/** What every page stands in. */
import { createRootRoute, Outlet } from '@tanstack/react-router';
import { NotFound } from './not-found.tsx';

export const rootRoute = createRootRoute({
  component: Outlet,
  notFoundComponent: () => (
    <main>
      <NotFound />
    </main>
  ),
});

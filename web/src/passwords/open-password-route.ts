/** The page that the service's message names when a password must be changed. Nobody is signed in there. */
import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../app/lazy-page.ts';
import { rootRoute } from '../app/root-route.tsx';

export const openPasswordRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/change-password',
  staticData: { page: { name: 'changePassword', permissions: [] } },
  component: lazyPage(() => import('./open-password-page.tsx'), 'OpenPasswordPage'),
});

/** The page that the service's message names when a password must be changed. Nobody is signed in there. */
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { rootRoute } from '../app/root-route.tsx';

export const openPasswordRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/change-password',
  staticData: { page: { name: 'changePassword', permissions: [] } },
  component: lazyRouteComponent(() => import('./open-password-page.tsx'), 'OpenPasswordPage'),
});

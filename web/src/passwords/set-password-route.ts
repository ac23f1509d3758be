/** The page that a setup link opens. Nobody is signed in there. */
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { rootRoute } from '../app/root-route.tsx';

export const setPasswordRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/set-password',
  staticData: { page: { name: 'setPassword', permissions: [] } },
  component: lazyRouteComponent(() => import('./set-password-page.tsx'), 'SetPasswordPage'),
});

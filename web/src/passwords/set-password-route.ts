/** The page that a setup link opens. Nobody is signed in there. */
import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../app/lazy-page.ts';
import { rootRoute } from '../app/root-route.tsx';

export const setPasswordRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/set-password',
  staticData: { page: { name: 'setPassword', permissions: [] } },
  component: lazyPage(() => import('./set-password-page.tsx'), 'SetPasswordPage'),
});

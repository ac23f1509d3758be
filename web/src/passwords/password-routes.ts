/** The pages about passwords where nobody is signed in. */
import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../app/lazy-page.ts';
import { rootRoute } from '../app/root-route.tsx';

/** The page that the service's message names when a password must be changed. */
export const openPasswordRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/change-password',
  staticData: { page: { name: 'changePassword', permissions: [] } },
  component: lazyPage(() => import('./open-password-page.tsx'), 'OpenPasswordPage'),
});

/** The page that a setup link opens. */
export const setPasswordRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/set-password',
  staticData: { page: { name: 'setPassword', permissions: [] } },
  component: lazyPage(() => import('./set-password-page.tsx'), 'SetPasswordPage'),
});

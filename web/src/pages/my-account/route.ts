import { createRoute } from '@tanstack/react-router';
import { CircleUser } from 'lucide-react';
import { lazyPage } from '../../app/lazy-page.ts';
import { shellRoute } from '../../shell/shell-route.tsx';

export const myAccountRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/my-account',
  staticData: {
    page: {
      name: 'myAccount',
      permissions: [],
      navigation: { group: 'account', position: 12, icon: CircleUser },
    },
  },
  component: lazyPage(() => import('./my-account-page.tsx'), 'MyAccountPage'),
});

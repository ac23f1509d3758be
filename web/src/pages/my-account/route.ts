import { CircleUser } from 'lucide-react';
import { lazyPage } from '../../app/lazy-page.ts';
import { pageRoute } from '../../shell/shell-route.tsx';

export const myAccountRoute = pageRoute({
  path: '/my-account',
  page: {
    name: 'myAccount',
    permissions: [],
    navigation: { group: 'account', position: 12, icon: CircleUser },
  },
  component: lazyPage(() => import('./my-account-page.tsx'), 'MyAccountPage'),
});

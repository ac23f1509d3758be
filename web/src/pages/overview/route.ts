import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { House } from 'lucide-react';
import { shellRoute } from '../../shell/shell-route.tsx';

export const overviewRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/',
  staticData: {
    page: {
      name: 'overview',
      permissions: [],
      navigation: { group: 'organisation', position: 1, icon: House },
    },
  },
  component: lazyRouteComponent(() => import('./overview-page.tsx'), 'OverviewPage'),
});

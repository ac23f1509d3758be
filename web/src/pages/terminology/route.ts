import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { Languages } from 'lucide-react';
import { shellRoute } from '../../shell/shell-route.tsx';

export const terminologyRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/terminology',
  staticData: {
    page: {
      name: 'terminology',
      permissions: ['terminology.maps.read', 'terminology.maps.manage'],
      navigation: { group: 'records', position: 8, icon: Languages },
    },
  },
  component: lazyRouteComponent(() => import('./terminology-page.tsx'), 'TerminologyPage'),
});

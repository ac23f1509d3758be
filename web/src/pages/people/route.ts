import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { Users } from 'lucide-react';
import { shellRoute } from '../../shell/shell-route.tsx';

export const peopleRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/people',
  staticData: {
    page: {
      name: 'people',
      permissions: ['people.manage'],
      navigation: { group: 'organisation', position: 3, icon: Users },
    },
  },
  component: lazyRouteComponent(() => import('./people-page.tsx'), 'PeoplePage'),
});

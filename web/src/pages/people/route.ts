import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { Users } from 'lucide-react';
import { textParameters } from '../../blocks/list/text-parameters.ts';
import { shellRoute } from '../../shell/shell-route.tsx';

const permissions = ['people.manage'];

export const peopleRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/people',
  validateSearch: textParameters('search', 'state', 'role'),
  staticData: {
    page: {
      name: 'people',
      permissions,
      navigation: { group: 'organisation', position: 3, icon: Users },
    },
  },
  component: lazyRouteComponent(() => import('./people-page.tsx'), 'PeoplePage'),
});

export const personRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/people/$accountId',
  staticData: { page: { name: 'person', permissions } },
  component: lazyRouteComponent(() => import('./person-page.tsx'), 'PersonPage'),
});

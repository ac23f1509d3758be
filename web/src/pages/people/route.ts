import { createRoute } from '@tanstack/react-router';
import { Users } from 'lucide-react';
import { lazyPage } from '../../app/lazy-page.ts';
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
  component: lazyPage(() => import('./people-page.tsx'), 'PeoplePage'),
});

export const personRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/people/$accountId',
  staticData: { page: { name: 'person', permissions } },
  component: lazyPage(() => import('./person-page.tsx'), 'PersonPage'),
});

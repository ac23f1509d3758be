import { Users } from 'lucide-react';
import { lazyPage } from '../../app/lazy-page.ts';
import { textParameters } from '../../blocks/list/text-parameters.ts';
import { pageRoute } from '../../shell/shell-route.tsx';

const permissions = ['people.manage'];

export const peopleRoute = pageRoute({
  path: '/people',
  validateSearch: textParameters('search', 'state', 'role'),
  page: {
    name: 'people',
    permissions,
    navigation: { group: 'organisation', position: 3, icon: Users },
  },
  component: lazyPage(() => import('./people-page.tsx'), 'PeoplePage'),
});

export const personRoute = pageRoute({
  path: '/people/$accountId',
  page: { name: 'person', permissions },
  component: lazyPage(() => import('./person-page.tsx'), 'PersonPage'),
});

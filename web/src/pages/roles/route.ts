import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { KeyRound } from 'lucide-react';
import { shellRoute } from '../../shell/shell-route.tsx';

export const rolesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/roles',
  staticData: {
    page: {
      name: 'roles',
      permissions: ['roles.manage', 'accounts.manage', 'people.manage'],
      navigation: { group: 'organisation', position: 4, icon: KeyRound },
    },
  },
  component: lazyRouteComponent(() => import('./roles-page.tsx'), 'RolesPage'),
});

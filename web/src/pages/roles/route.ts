import { createRoute } from '@tanstack/react-router';
import { KeyRound } from 'lucide-react';
import { lazyPage } from '../../app/lazy-page.ts';
import { textParameters } from '../../blocks/list/text-parameters.ts';
import { shellRoute } from '../../shell/shell-route.tsx';

const permissions = ['roles.manage', 'accounts.manage', 'people.manage'];

export const rolesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/roles',
  validateSearch: textParameters('search'),
  staticData: {
    page: {
      name: 'roles',
      permissions,
      navigation: { group: 'organisation', position: 4, icon: KeyRound },
    },
  },
  component: lazyPage(() => import('./roles-page.tsx'), 'RolesPage'),
});

export const newRoleRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/roles/new',
  staticData: { page: { name: 'newRole', permissions: ['roles.manage'] } },
  component: lazyPage(() => import('./role-page.tsx'), 'NewRolePage'),
});

export const roleRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/roles/$roleId',
  staticData: { page: { name: 'role', permissions } },
  component: lazyPage(() => import('./role-page.tsx'), 'RolePage'),
});

import { KeyRound } from 'lucide-react';
import { lazyPage } from '../../app/lazy-page.ts';
import { textParameters } from '../../blocks/list/text-parameters.ts';
import { pageRoute } from '../../shell/shell-route.tsx';

const permissions = ['roles.manage', 'accounts.manage', 'people.manage'];

export const rolesRoute = pageRoute({
  path: '/roles',
  validateSearch: textParameters('search'),
  page: {
    name: 'roles',
    permissions,
    navigation: { group: 'organisation', position: 4, icon: KeyRound },
  },
  component: lazyPage(() => import('./roles-page.tsx'), 'RolesPage'),
});

export const newRoleRoute = pageRoute({
  path: '/roles/new',
  page: { name: 'newRole', permissions: ['roles.manage'] },
  component: lazyPage(() => import('./role-page.tsx'), 'NewRolePage'),
});

export const roleRoute = pageRoute({
  path: '/roles/$roleId',
  page: { name: 'role', permissions },
  component: lazyPage(() => import('./role-page.tsx'), 'RolePage'),
});

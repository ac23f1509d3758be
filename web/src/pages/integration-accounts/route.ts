import { createRoute } from '@tanstack/react-router';
import { PlugZap } from 'lucide-react';
import { lazyPage } from '../../app/lazy-page.ts';
import { textParameters } from '../../blocks/list/text-parameters.ts';
import { shellRoute } from '../../shell/shell-route.tsx';

const permissions = ['accounts.manage'];

export const integrationAccountsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/integration-accounts',
  validateSearch: textParameters('search', 'state', 'role'),
  staticData: {
    page: {
      name: 'integrationAccounts',
      permissions,
      navigation: { group: 'organisation', position: 2, icon: PlugZap },
    },
  },
  component: lazyPage(() => import('./integration-accounts-page.tsx'), 'IntegrationAccountsPage'),
});

export const integrationAccountRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/integration-accounts/$accountId',
  staticData: { page: { name: 'integrationAccount', permissions } },
  component: lazyPage(() => import('./integration-account-page.tsx'), 'IntegrationAccountPage'),
});

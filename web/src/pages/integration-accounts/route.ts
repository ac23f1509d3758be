import { PlugZap } from 'lucide-react';
import { lazyPage } from '../../app/lazy-page.ts';
import { textParameters } from '../../blocks/list/text-parameters.ts';
import { pageRoute } from '../../shell/shell-route.tsx';

const permissions = ['accounts.manage'];

export const integrationAccountsRoute = pageRoute({
  path: '/integration-accounts',
  validateSearch: textParameters('search', 'state', 'role'),
  page: {
    name: 'integrationAccounts',
    permissions,
    navigation: { group: 'organisation', position: 2, icon: PlugZap },
  },
  component: lazyPage(() => import('./integration-accounts-page.tsx'), 'IntegrationAccountsPage'),
});

export const integrationAccountRoute = pageRoute({
  path: '/integration-accounts/$accountId',
  page: { name: 'integrationAccount', permissions },
  component: lazyPage(() => import('./integration-account-page.tsx'), 'IntegrationAccountPage'),
});

import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { PlugZap } from 'lucide-react';
import { shellRoute } from '../../shell/shell-route.tsx';

export const integrationAccountsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/integration-accounts',
  staticData: {
    page: {
      name: 'integrationAccounts',
      permissions: ['accounts.manage'],
      navigation: { group: 'organisation', position: 2, icon: PlugZap },
    },
  },
  component: lazyRouteComponent(() => import('./integration-accounts-page.tsx'), 'IntegrationAccountsPage'),
});

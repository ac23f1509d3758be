import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { ArrowLeftRight } from 'lucide-react';
import { textParameters } from '../../blocks/list/text-parameters.ts';
import { shellRoute } from '../../shell/shell-route.tsx';

export const exchangeRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/exchange',
  validateSearch: textParameters('status', 'patient', 'since', 'until'),
  staticData: {
    page: {
      name: 'exchange',
      permissions: ['exchange.deliveries.read', 'exchange.connections.manage'],
      navigation: { group: 'exchange', position: 10, icon: ArrowLeftRight },
    },
  },
  component: lazyRouteComponent(() => import('./exchange-page.tsx'), 'ExchangePage'),
});

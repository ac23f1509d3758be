import { ArrowLeftRight } from 'lucide-react';
import { lazyPage } from '../../app/lazy-page.ts';
import { textParameters } from '../../blocks/list/text-parameters.ts';
import { pageRoute } from '../../shell/shell-route.tsx';

export const exchangeRoute = pageRoute({
  path: '/exchange',
  validateSearch: textParameters('status', 'connection', 'patient', 'since', 'until'),
  page: {
    name: 'exchange',
    permissions: ['exchange.deliveries.read', 'exchange.connections.manage'],
    navigation: { group: 'exchange', position: 10, icon: ArrowLeftRight },
  },
  component: lazyPage(() => import('./deliveries/deliveries-page.tsx'), 'ExchangePage'),
});

export const exchangeHeldRoute = pageRoute({
  path: '/exchange/held',
  validateSearch: textParameters('connection', 'patient', 'since', 'until'),
  page: { name: 'exchange', permissions: ['exchange.deliveries.read'] },
  component: lazyPage(() => import('./deliveries/deliveries-page.tsx'), 'HeldPage'),
});

export const exchangeDeliveryRoute = pageRoute({
  path: '/exchange/deliveries/$deliveryId',
  page: { name: 'exchange', permissions: ['exchange.deliveries.read'] },
  component: lazyPage(() => import('./deliveries/delivery-page.tsx'), 'DeliveryPage'),
});

export const exchangeConnectionsRoute = pageRoute({
  path: '/exchange/connections',
  page: { name: 'exchangeConnections', permissions: ['exchange.connections.manage'] },
  component: lazyPage(() => import('./connections/connections-page.tsx'), 'ConnectionsPage'),
});

export const exchangeConnectionRoute = pageRoute({
  path: '/exchange/connections/$connectionId',
  page: { name: 'exchangeConnections', permissions: ['exchange.connections.manage'] },
  component: lazyPage(() => import('./connections/connection-page.tsx'), 'ConnectionPage'),
});

export const exchangeCallbacksRoute = pageRoute({
  path: '/exchange/callbacks',
  validateSearch: textParameters('status', 'outcome', 'connection'),
  page: { name: 'exchangeCallbacks', permissions: ['exchange.deliveries.read'] },
  component: lazyPage(() => import('./deliveries/callbacks-page.tsx'), 'CallbacksPage'),
});

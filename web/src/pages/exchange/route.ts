import { createRoute } from '@tanstack/react-router';
import { ArrowLeftRight } from 'lucide-react';
import { lazyPage } from '../../app/lazy-page.ts';
import { textParameters } from '../../blocks/list/text-parameters.ts';
import { shellRoute } from '../../shell/shell-route.tsx';

export const exchangeRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/exchange',
  validateSearch: textParameters('status', 'connection', 'patient', 'since', 'until'),
  staticData: {
    page: {
      name: 'exchange',
      permissions: ['exchange.deliveries.read', 'exchange.connections.manage'],
      navigation: { group: 'exchange', position: 10, icon: ArrowLeftRight },
    },
  },
  component: lazyPage(() => import('./deliveries/deliveries-page.tsx'), 'ExchangePage'),
});

export const exchangeHeldRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/exchange/held',
  validateSearch: textParameters('connection', 'patient', 'since', 'until'),
  staticData: { page: { name: 'exchange', permissions: ['exchange.deliveries.read'] } },
  component: lazyPage(() => import('./deliveries/deliveries-page.tsx'), 'HeldPage'),
});

export const exchangeDeliveryRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/exchange/deliveries/$deliveryId',
  staticData: {
    page: {
      name: 'exchange',
      permissions: ['exchange.deliveries.read'],
    },
  },
  component: lazyPage(() => import('./deliveries/delivery-page.tsx'), 'DeliveryPage'),
});

export const exchangeConnectionsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/exchange/connections',
  staticData: { page: { name: 'exchangeConnections', permissions: ['exchange.connections.manage'] } },
  component: lazyPage(() => import('./connections/connections-page.tsx'), 'ConnectionsPage'),
});

export const exchangeConnectionRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/exchange/connections/$connectionId',
  staticData: {
    page: {
      name: 'exchangeConnections',
      permissions: ['exchange.connections.manage'],
    },
  },
  component: lazyPage(() => import('./connections/connection-page.tsx'), 'ConnectionPage'),
});

export const exchangeCallbacksRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/exchange/callbacks',
  validateSearch: textParameters('status', 'outcome', 'connection'),
  staticData: { page: { name: 'exchangeCallbacks', permissions: ['exchange.deliveries.read'] } },
  component: lazyPage(() => import('./deliveries/callbacks-page.tsx'), 'CallbacksPage'),
});

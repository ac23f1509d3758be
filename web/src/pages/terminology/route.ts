import { createRoute } from '@tanstack/react-router';
import { Languages } from 'lucide-react';
import { lazyPage } from '../../app/lazy-page.ts';
import { textParameters } from '../../blocks/list/text-parameters.ts';
import { shellRoute } from '../../shell/shell-route.tsx';

const permissions = ['terminology.maps.read', 'terminology.maps.manage'];

export const terminologyRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/terminology',
  validateSearch: textParameters('place'),
  staticData: {
    page: {
      name: 'terminology',
      permissions,
      navigation: { group: 'records', position: 8, icon: Languages },
    },
  },
  component: lazyPage(() => import('./unmapped-page.tsx'), 'UnmappedPage'),
});

export const terminologyMapsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/terminology/maps',
  validateSearch: textParameters('search', 'level', 'targetSystem', 'localCode'),
  staticData: { page: { name: 'terminologyMaps', permissions } },
  component: lazyPage(() => import('./maps/maps-page.tsx'), 'MapsPage'),
});

export const mapImportRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/terminology/import',
  staticData: { page: { name: 'mapImport', permissions: ['terminology.maps.manage'] } },
  component: lazyPage(() => import('./import/import-page.tsx'), 'MapImportPage'),
});

export const mapChangesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/terminology/history',
  validateSearch: textParameters('localCode'),
  staticData: { page: { name: 'mapChanges', permissions } },
  component: lazyPage(() => import('./changes-page.tsx'), 'ChangesPage'),
});

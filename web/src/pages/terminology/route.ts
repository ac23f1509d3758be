import { Languages } from 'lucide-react';
import { lazyPage } from '../../app/lazy-page.ts';
import { textParameters } from '../../blocks/list/text-parameters.ts';
import { pageRoute } from '../../shell/shell-route.tsx';

const permissions = ['terminology.maps.read', 'terminology.maps.manage'];

export const terminologyRoute = pageRoute({
  path: '/terminology',
  validateSearch: textParameters('place'),
  page: {
    name: 'terminology',
    permissions,
    navigation: { group: 'records', position: 8, icon: Languages },
  },
  component: lazyPage(() => import('./unmapped-page.tsx'), 'UnmappedPage'),
});

export const terminologyMapsRoute = pageRoute({
  path: '/terminology/maps',
  validateSearch: textParameters('search', 'level', 'targetSystem', 'localCode'),
  page: { name: 'terminologyMaps', permissions },
  component: lazyPage(() => import('./maps/maps-page.tsx'), 'MapsPage'),
});

export const mapImportRoute = pageRoute({
  path: '/terminology/import',
  page: { name: 'mapImport', permissions: ['terminology.maps.manage'] },
  component: lazyPage(() => import('./import/import-page.tsx'), 'MapImportPage'),
});

export const mapChangesRoute = pageRoute({
  path: '/terminology/history',
  validateSearch: textParameters('localCode'),
  page: { name: 'mapChanges', permissions },
  component: lazyPage(() => import('./changes-page.tsx'), 'ChangesPage'),
});

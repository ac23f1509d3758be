import { createRoute } from '@tanstack/react-router';
import { FileInput } from 'lucide-react';
import { lazyPage } from '../../app/lazy-page.ts';
import { textParameters } from '../../blocks/list/text-parameters.ts';
import { shellRoute } from '../../shell/shell-route.tsx';

export const importsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/imports',
  validateSearch: textParameters('state'),
  staticData: {
    page: {
      name: 'imports',
      permissions: ['records.import'],
      navigation: { group: 'records', position: 9, icon: FileInput },
    },
  },
  component: lazyPage(() => import('./imports-page.tsx'), 'ImportsPage'),
});

export const importRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/imports/$importId',
  staticData: { page: { name: 'imports', permissions: ['records.import'] } },
  component: lazyPage(() => import('./import-page.tsx'), 'ImportPage'),
});

import { FileInput } from 'lucide-react';
import { lazyPage } from '../../app/lazy-page.ts';
import { textParameters } from '../../blocks/list/text-parameters.ts';
import { pageRoute } from '../../shell/shell-route.tsx';

export const importsRoute = pageRoute({
  path: '/imports',
  validateSearch: textParameters('state'),
  page: {
    name: 'imports',
    permissions: ['records.import'],
    navigation: { group: 'records', position: 9, icon: FileInput },
  },
  component: lazyPage(() => import('./imports-page.tsx'), 'ImportsPage'),
});

export const importRoute = pageRoute({
  path: '/imports/$importId',
  page: { name: 'imports', permissions: ['records.import'] },
  component: lazyPage(() => import('./import-page.tsx'), 'ImportPage'),
});

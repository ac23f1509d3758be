import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { FileInput } from 'lucide-react';
import { shellRoute } from '../../shell/shell-route.tsx';

export const importsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/imports',
  staticData: {
    page: {
      name: 'imports',
      permissions: ['records.import'],
      navigation: { group: 'records', position: 9, icon: FileInput },
    },
  },
  component: lazyRouteComponent(() => import('./imports-page.tsx'), 'ImportsPage'),
});

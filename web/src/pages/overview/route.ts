import { createRoute } from '@tanstack/react-router';
import { House } from 'lucide-react';
import { lazyPage } from '../../app/lazy-page.ts';
import { textParameters } from '../../blocks/list/text-parameters.ts';
import { shellRoute } from '../../shell/shell-route.tsx';

export const overviewRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/',
  validateSearch: textParameters('hours'),
  staticData: {
    page: {
      name: 'overview',
      permissions: [],
      navigation: { group: 'organisation', position: 1, icon: House },
    },
  },
  component: lazyPage(() => import('./overview-page.tsx'), 'OverviewPage'),
});

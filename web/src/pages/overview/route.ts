import { House } from 'lucide-react';
import { lazyPage } from '../../app/lazy-page.ts';
import { textParameters } from '../../blocks/list/text-parameters.ts';
import { pageRoute } from '../../shell/shell-route.tsx';

export const overviewRoute = pageRoute({
  path: '/',
  validateSearch: textParameters('hours'),
  page: {
    name: 'overview',
    permissions: [],
    navigation: { group: 'organisation', position: 1, icon: House },
  },
  component: lazyPage(() => import('./overview-page.tsx'), 'OverviewPage'),
});

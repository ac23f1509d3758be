import { createRoute } from '@tanstack/react-router';
import { Send } from 'lucide-react';
import { lazyPage } from '../../app/lazy-page.ts';
import { textParameters } from '../../blocks/list/text-parameters.ts';
import { shellRoute } from '../../shell/shell-route.tsx';

const permissions = ['publish.publications.read'];

export const publishingRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/publishing',
  validateSearch: textParameters('kind', 'state', 'target', 'patient', 'since', 'until'),
  staticData: {
    page: {
      name: 'publishing',
      permissions,
      navigation: { group: 'exchange', position: 11, icon: Send },
    },
  },
  component: lazyPage(() => import('./publishing-page.tsx'), 'PublishingPage'),
});

export const publishTargetsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/publishing/targets',
  staticData: { page: { name: 'publishing', permissions } },
  component: lazyPage(() => import('./targets-page.tsx'), 'TargetsPage'),
});

export const publishedRecordRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/publishing/$kind/$recordId',
  staticData: { page: { name: 'publishing', permissions } },
  component: lazyPage(() => import('./record-page.tsx'), 'RecordPage'),
});

import { Send } from 'lucide-react';
import { lazyPage } from '../../app/lazy-page.ts';
import { textParameters } from '../../blocks/list/text-parameters.ts';
import { pageRoute } from '../../shell/shell-route.tsx';

const permissions = ['publish.publications.read'];

export const publishingRoute = pageRoute({
  path: '/publishing',
  validateSearch: textParameters('kind', 'state', 'target', 'patient', 'since', 'until'),
  page: {
    name: 'publishing',
    permissions,
    navigation: { group: 'exchange', position: 11, icon: Send },
  },
  component: lazyPage(() => import('./publishing-page.tsx'), 'PublishingPage'),
});

export const publishTargetsRoute = pageRoute({
  path: '/publishing/targets',
  page: { name: 'publishing', permissions },
  component: lazyPage(() => import('./targets-page.tsx'), 'TargetsPage'),
});

export const publishedRecordRoute = pageRoute({
  path: '/publishing/$kind/$recordId',
  page: { name: 'publishing', permissions },
  component: lazyPage(() => import('./record-page.tsx'), 'RecordPage'),
});

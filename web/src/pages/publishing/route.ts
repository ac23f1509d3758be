import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { Send } from 'lucide-react';
import { shellRoute } from '../../shell/shell-route.tsx';

export const publishingRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/publishing',
  staticData: {
    page: {
      name: 'publishing',
      permissions: ['publish.publications.read'],
      navigation: { group: 'exchange', position: 11, icon: Send },
    },
  },
  component: lazyRouteComponent(() => import('./publishing-page.tsx'), 'PublishingPage'),
});

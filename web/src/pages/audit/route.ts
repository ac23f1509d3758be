import { createRoute } from '@tanstack/react-router';
import { ScrollText } from 'lucide-react';
import { lazyPage } from '../../app/lazy-page.ts';
import { textParameters } from '../../blocks/list/text-parameters.ts';
import { shellRoute } from '../../shell/shell-route.tsx';

export const auditRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/audit',
  validateSearch: textParameters('actor', 'action', 'subject', 'since', 'until'),
  staticData: {
    page: {
      name: 'audit',
      permissions: ['administration.audit.read'],
      navigation: { group: 'organisation', position: 6, icon: ScrollText },
    },
  },
  component: lazyPage(() => import('./audit-page.tsx'), 'AuditPage'),
});

import { ScrollText } from 'lucide-react';
import { lazyPage } from '../../app/lazy-page.ts';
import { textParameters } from '../../blocks/list/text-parameters.ts';
import { pageRoute } from '../../shell/shell-route.tsx';

export const auditRoute = pageRoute({
  path: '/audit',
  validateSearch: textParameters('actor', 'action', 'subject', 'since', 'until'),
  page: {
    name: 'audit',
    permissions: ['administration.audit.read'],
    navigation: { group: 'organisation', position: 6, icon: ScrollText },
  },
  component: lazyPage(() => import('./audit-page.tsx'), 'AuditPage'),
});

import { Building2 } from 'lucide-react';
import { lazyPage } from '../../app/lazy-page.ts';
import { pageRoute } from '../../shell/shell-route.tsx';

export const facilityRoute = pageRoute({
  path: '/facility',
  page: {
    name: 'facility',
    permissions: ['facilities.manage'],
    navigation: { group: 'organisation', position: 5, icon: Building2 },
  },
  component: lazyPage(() => import('./facility-page.tsx'), 'FacilityPage'),
});

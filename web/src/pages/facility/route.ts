import { createRoute } from '@tanstack/react-router';
import { Building2 } from 'lucide-react';
import { lazyPage } from '../../app/lazy-page.ts';
import { shellRoute } from '../../shell/shell-route.tsx';

export const facilityRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/facility',
  staticData: {
    page: {
      name: 'facility',
      permissions: ['facilities.manage'],
      navigation: { group: 'organisation', position: 5, icon: Building2 },
    },
  },
  component: lazyPage(() => import('./facility-page.tsx'), 'FacilityPage'),
});

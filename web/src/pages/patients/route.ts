import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { ContactRound } from 'lucide-react';
import { shellRoute } from '../../shell/shell-route.tsx';

export const patientsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/patients',
  staticData: {
    page: {
      name: 'patients',
      permissions: ['patients.patients.list'],
      navigation: { group: 'records', position: 7, icon: ContactRound },
    },
  },
  component: lazyRouteComponent(() => import('./patients-page.tsx'), 'PatientsPage'),
});

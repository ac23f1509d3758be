import { ContactRound } from 'lucide-react';
import { lazyPage } from '../../app/lazy-page.ts';
import { textParameters } from '../../blocks/list/text-parameters.ts';
import { pageRoute } from '../../shell/shell-route.tsx';

export const patientsRoute = pageRoute({
  path: '/patients',
  validateSearch: textParameters('purpose'),
  page: {
    name: 'patients',
    permissions: ['patients.patients.list'],
    navigation: { group: 'records', position: 7, icon: ContactRound },
  },
  component: lazyPage(() => import('./patients-page.tsx'), 'PatientsPage'),
});

export const patientRoute = pageRoute({
  path: '/patients/$patientId',
  validateSearch: textParameters(
    'tab',
    'purpose',
    'kind',
    'record',
    'from',
    'to',
    'action',
    'account',
    'outcome',
    'status',
  ),
  page: { name: 'patient', permissions: ['patients.patients.get', 'patients.access-log.read'] },
  component: lazyPage(() => import('./patient-page.tsx'), 'PatientPage'),
});

/** Permissions that often go together, to begin a role with. Contract: ADM-12. */
import { PERMISSIONS, type Permission } from './permissions.ts';

interface Preset {
  name: 'read-only' | 'laboratory-partner' | 'full';
  permissions: readonly Permission[];
}

const READING: readonly Permission[] = [
  'patients.patients.list',
  'patients.patients.get',
  'encounters.access',
  'encounters.vitals.read',
  'investigations.lab.list',
  'investigations.imaging.list',
  'terminology.maps.read',
];

export const PRESETS: readonly Preset[] = [
  { name: 'read-only', permissions: READING },
  {
    name: 'laboratory-partner',
    permissions: [
      'patients.patients.list',
      'patients.patients.get',
      'investigations.lab.list',
      'investigations.lab.write',
      'investigations.lab.release',
      'terminology.maps.read',
    ],
  },
  { name: 'full', permissions: Object.keys(PERMISSIONS) as Permission[] },
];

/** Every permission that a role can hold, with what it allows. Contract: ACC-10, ADM-12. */
export const PERMISSIONS = {
  'patients.patients.list': 'search patients',
  'patients.patients.get': 'read one patient',
  'patients.patients.write': 'create and change patients',
  'patients.patients.register': 'link a patient of another facility of the organisation to this facility',
  'patients.access-log.read': "read a patient's access log",
  'patients.privacy.manage': 'change the purposes of use that a patient refuses',
  'encounters.access': 'read and search encounters over FHIR',
  'encounters.fhir.encounter.search': 'search encounters over FHIR',
  'encounters.fhir.encounter.read': 'read one encounter over FHIR',
  'encounters.write': 'create and change encounters',
  'encounters.vitals.read': 'read vital signs',
  'encounters.vitals.manage': 'record and publish vital signs',
  'investigations.lab.list': 'read laboratory orders, results and reports',
  'investigations.lab.write': 'record laboratory orders and results',
  'investigations.lab.release': 'release and publish laboratory reports',
  'investigations.imaging.list': 'read imaging orders and reports',
  'investigations.imaging.write': 'record and publish imaging orders and reports',
  'publish.publications.read': 'read what was published, and the state of targets',
  'records.import': 'import FHIR records',
  'terminology.maps.read': 'read terminology maps',
  'terminology.maps.manage': 'change terminology maps',
  'terminology.maps.organisation':
    'change the terminology map of the organisation without access to every facility; terminology.maps.manage is needed too',
  'exchange.connections.manage': 'manage exchange connections',
  'exchange.deliveries.read': 'review deliveries',
  'exchange.deliveries.replay': 'replay and skip held deliveries',
  'exchange.deliveries.payload': 'read the payload of a delivery',
  'accounts.manage': 'manage integration accounts',
  'people.manage': 'manage the accounts of people',
  'roles.manage': 'manage roles',
  'facilities.manage': 'change the name, the time zone and the modules of facilities',
  'administration.audit.read': 'read who changed what in the administration',
} as const;

export type Permission = keyof typeof PERMISSIONS;

export function isPermission(value: string): value is Permission {
  return Object.hasOwn(PERMISSIONS, value);
}

/** Permissions that often go together, to begin a role with. */
export const PRESETS: readonly { name: string; permissions: readonly Permission[] }[] = [
  {
    name: 'read-only',
    permissions: [
      'patients.patients.list',
      'patients.patients.get',
      'encounters.access',
      'encounters.vitals.read',
      'investigations.lab.list',
      'investigations.imaging.list',
      'terminology.maps.read',
    ],
  },
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

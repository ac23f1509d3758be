/** What each permission of the service allows, below its name: the dots of a name are the levels here. */
export const permissions = {
  patients: {
    patients: {
      list: 'Search patients',
      get: 'Read one patient',
      write: 'Create and change patients',
      register: 'Link a patient of another facility of the organisation to this facility',
    },
    'access-log': { read: 'Read a patient’s access log' },
    privacy: { manage: 'Change the purposes of use that a patient refuses' },
  },
  encounters: {
    access: 'Read and search encounters over FHIR',
    fhir: {
      encounter: { search: 'Search encounters over FHIR', read: 'Read one encounter over FHIR' },
    },
    write: 'Create and change encounters',
    vitals: { read: 'Read vital signs', manage: 'Record and publish vital signs' },
  },
  investigations: {
    lab: {
      list: 'Read laboratory orders, results and reports',
      write: 'Record laboratory orders and results',
      release: 'Release and publish laboratory reports',
    },
    imaging: {
      list: 'Read imaging orders and reports',
      write: 'Record and publish imaging orders and reports',
    },
  },
  publish: { publications: { read: 'Read what was published, and the state of targets' } },
  records: { import: 'Import FHIR records' },
  terminology: {
    maps: {
      read: 'Read terminology maps',
      manage: 'Change terminology maps',
      organisation:
        'Change the terminology map of the organisation without access to every facility; “Change terminology maps” is needed too',
    },
  },
  exchange: {
    connections: { manage: 'Manage exchange connections' },
    deliveries: {
      read: 'Review deliveries',
      replay: 'Replay and skip held deliveries',
      payload: 'Read the payload of a delivery',
    },
  },
  accounts: { manage: 'Manage integration accounts' },
  people: { manage: 'Manage the accounts of people' },
  roles: { manage: 'Manage roles' },
  facilities: { manage: 'Change the name, the time zone and the modules of facilities' },
  administration: { audit: { read: 'Read who changed what in the administration' } },
} as const;

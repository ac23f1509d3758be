/** Name, time zone and modules of a facility. */
export const facility = {
  title: 'Facility',
  text: 'Its name, its time zone, and what of the service is on.',
  noFacility: 'Your account has no facility',
  noFacilityText: 'Ask an administrator to give it one.',
  general: 'General',
  name: 'Name',
  timeZone: 'Time zone',
  timeZoneText:
    'Dates without a zone are read and shown in it. After a change, import the records again: their dates were read in the earlier time zone. Example: Africa/Lagos.',
  id: 'Id of the facility',
  idText: 'Systems send it in the header x-facility-id.',
  save: 'Save',
  saved: 'Saved. It holds from the next call on.',
  modules: 'Modules',
  modulesText: 'What systems can do at this facility. Turning one off deletes nothing.',
  turnOff: 'Turn off {name}?',
  turnOffAction: 'Turn off',
  turnedOn: '{name} is on.',
  turnedOff: '{name} is off.',
  stopNow: 'From the next call on:',
  kept: 'Records stay. You can turn it on again at any time.',
  module: {
    patients: {
      name: 'Patients',
      text: 'Systems list, find and read patients; files are imported.',
      stops: 'Calls about patients and imports are refused with 403.',
    },
    encounters: {
      name: 'Encounters',
      text: 'Systems read encounters as FHIR.',
      stops: 'Calls about encounters are refused with 403.',
    },
    vitals: {
      name: 'Vital signs',
      text: 'Systems read what was measured of a patient.',
      stops: 'Calls about vital signs are refused with 403, and none is published.',
    },
    lab: {
      name: 'Laboratory',
      text: 'Systems read orders, specimens and results of the laboratory.',
      stops: 'Calls about laboratory orders are refused with 403, and none is published.',
    },
    imaging: {
      name: 'Imaging',
      text: 'Systems read imaging orders, studies and reports.',
      stops: 'Calls about imaging orders are refused with 403, and none is published.',
    },
    publish: {
      name: 'Publishing',
      text: 'Orders and vital signs are sent to FHIR servers.',
      stops: 'Nothing is published to FHIR servers; such calls are refused with 403.',
    },
    exchange: {
      name: 'Exchange',
      text: 'Changes of patients are delivered to health information exchanges.',
      stops:
        'Nothing new is queued. What is queued already waits until the module is on again. Changes of patients meanwhile are not sent later.',
    },
  },
} as const;

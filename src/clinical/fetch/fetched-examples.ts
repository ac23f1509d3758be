/** Records that the examples of answers show, in the OpenAPI document: one patient, one order, one vital set. */

export const PATIENT_ID = 'b8a1f6d2-54c7-4e0b-8f19-2c3d4e5f6a7b';
export const ENCOUNTER_ID = '5f0c9b1e-3d57-4c1a-9d0e-7a1f0b6c2d43';
export const ORDER_ID = '7600924d-2ca4-4cd0-9251-2306b698ef8b';
export const VITAL_SET_ID = 'cfc69762-c197-4bc1-950d-8af29611b257';
const ORGANISATION_ID = '0c7d2a90-8b1f-4f5e-9a36-d4e5f6a7b8c9';
const RESULT_ID = '3c2b36d2-f424-47bb-a427-a2bfa9576f64';
const VITAL_SIGN_ID = '7b9c62e0-a431-44d9-8db3-6b96296d1780';
const SPECIMEN_ID = 'a64f3c52-9d0b-4b47-8a55-2f0f6a1f6c1e';
const STUDY_ID = '0df0f4a1-ec4e-4179-a7a7-1bdd6fbbf83e';
const REPORT_ID = 'f6597223-f161-4aa3-81b6-f4d235817cc8';

const LOINC = 'http://loinc.org';
const SUBJECT = {
  subject: { reference: `Patient/${PATIENT_ID}` },
  encounter: { reference: `Encounter/${ENCOUNTER_ID}` },
};
const BASED_ON = { basedOn: [{ reference: `ServiceRequest/${ORDER_ID}` }] };
const PANEL = { coding: [{ system: LOINC, code: '718-7', display: 'Hemoglobin [Mass/volume] in Blood' }] };
const CHEST = { coding: [{ system: LOINC, code: '36643-5', display: 'XR Chest 2 Views' }] };
const TAKEN_AT = '2026-01-10T09:15:00+01:00';

const identified = (id: string) => ({ identifier: [{ system: `urn:uuid:${ORGANISATION_ID}`, value: id }] });
const category = (code: string) => ({
  category: [{ coding: [{ system: 'http://terminology.hl7.org/CodeSystem/observation-category', code }] }],
});
const quantity = (value: number, unit: string, code: string) => ({
  valueQuantity: { value, unit, system: 'http://unitsofmeasure.org', code },
});

const order = (code: object) => ({
  resourceType: 'ServiceRequest',
  id: ORDER_ID,
  ...identified(ORDER_ID),
  status: 'completed',
  intent: 'order',
  code,
  ...SUBJECT,
  authoredOn: '2026-01-10T09:00:00+01:00',
});
const observation = (id: string, members: object) => ({
  resourceType: 'Observation',
  id,
  ...identified(id),
  status: 'final',
  ...members,
  ...SUBJECT,
  effectiveDateTime: TAKEN_AT,
});
const report = (code: object, members: object) => ({
  resourceType: 'DiagnosticReport',
  id: REPORT_ID,
  ...identified(REPORT_ID),
  ...BASED_ON,
  status: 'final',
  code,
  ...SUBJECT,
  effectiveDateTime: TAKEN_AT,
  issued: '2026-01-10T11:00:00.000+01:00',
  ...members,
});

const LAB_ORDER = order(PANEL);
const RESULT = observation(RESULT_ID, {
  ...BASED_ON,
  ...category('laboratory'),
  code: PANEL,
  ...quantity(11.1, 'g/dL', 'g/dL'),
});
const LAB_REPORT = report(PANEL, {
  result: [{ reference: `Observation/${RESULT_ID}` }],
  conclusion: 'Mild anaemia.',
});
const VITAL_SIGN = observation(VITAL_SIGN_ID, {
  ...category('vital-signs'),
  code: { coding: [{ system: LOINC, code: '8310-5', display: 'Body temperature' }] },
  ...quantity(36.7, '°C', 'Cel'),
});
const IMAGING_ORDER = order(CHEST);
const IMAGING_REPORT = report(CHEST, {
  imagingStudy: [{ reference: `ImagingStudy/${STUDY_ID}` }],
  conclusion: 'No focal consolidation.',
});
const STUDY = {
  resourceType: 'ImagingStudy',
  id: STUDY_ID,
  ...identified(STUDY_ID),
  status: 'available',
  ...SUBJECT,
  started: TAKEN_AT,
  ...BASED_ON,
  numberOfSeries: 1,
  numberOfInstances: 2,
};

const SPECIMEN = {
  resourceType: 'Specimen',
  id: SPECIMEN_ID,
  ...identified(SPECIMEN_ID),
  status: 'available',
  type: { text: 'Venous blood' },
  subject: SUBJECT.subject,
  collection: { collectedDateTime: TAKEN_AT },
};

/** One resource of each type that is fetched. */
export const RESOURCE_EXAMPLES: Readonly<Record<string, object>> = {
  ServiceRequest: LAB_ORDER,
  Specimen: SPECIMEN,
  Observation: RESULT,
  DiagnosticReport: LAB_REPORT,
  ImagingStudy: STUDY,
};

export const LAB_EXAMPLE = {
  orderId: ORDER_ID,
  bundle: bundle([LAB_ORDER, RESULT, LAB_REPORT]),
  orders: [summary(LAB_ORDER, { status: 'completed', code: '718-7', codeSystem: LOINC })],
  observations: [measured(RESULT, '718-7')],
  reports: [summary(LAB_REPORT, { conclusion: 'Mild anaemia.' })],
};
export const IMAGING_EXAMPLE = {
  orderId: ORDER_ID,
  bundle: bundle([IMAGING_ORDER, STUDY, IMAGING_REPORT]),
  orders: [summary(IMAGING_ORDER, { status: 'completed', code: '36643-5', codeSystem: LOINC })],
  reports: [summary(IMAGING_REPORT, { conclusion: 'No focal consolidation.' })],
};
export const VITALS_EXAMPLE = {
  vitalSetId: VITAL_SET_ID,
  bundle: bundle([VITAL_SIGN]),
  observations: [measured(VITAL_SIGN, '8310-5')],
};

interface Resource {
  resourceType: string;
  id: string;
}

function bundle(resources: readonly Resource[]) {
  const entry = resources.map((resource) => ({
    fullUrl: `https://records.example.org/api/v1/fhir/${resource.resourceType}/${resource.id}`,
    resource,
  }));
  return { resourceType: 'Bundle', type: 'collection', entry };
}

function summary(resource: Resource, members: object) {
  return { localId: resource.id, resourceType: resource.resourceType, ...members, resource };
}

function measured(resource: Resource, code: string) {
  return summary(resource, { code, codeSystem: LOINC, occurredAt: new Date(TAKEN_AT).toISOString() });
}

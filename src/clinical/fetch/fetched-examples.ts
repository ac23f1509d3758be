/** Records that the examples of answers show, in the OpenAPI document: one patient, one order, one vital set. */
import { LOINC } from '../../terminology/lookup/code-systems.ts';

export const PATIENT_ID = 'b8a1f6d2-54c7-4e0b-8f19-2c3d4e5f6a7b';
export const ENCOUNTER_ID = '5f0c9b1e-3d57-4c1a-9d0e-7a1f0b6c2d43';
export const ORDER_ID = '7600924d-2ca4-4cd0-9251-2306b698ef8b';
export const VITAL_SET_ID = 'cfc69762-c197-4bc1-950d-8af29611b257';
export const ORGANISATION_ID = '0c7d2a90-8b1f-4f5e-9a36-d4e5f6a7b8c9';
export const RESULT_ID = '3c2b36d2-f424-47bb-a427-a2bfa9576f64';
const SPECIMEN_ID = 'a64f3c52-9d0b-4b47-8a55-2f0f6a1f6c1e';
const STUDY_ID = '0df0f4a1-ec4e-4179-a7a7-1bdd6fbbf83e';
const REPORT_ID = 'f6597223-f161-4aa3-81b6-f4d235817cc8';

const SUBJECT = {
  subject: { reference: `Patient/${PATIENT_ID}` },
  encounter: { reference: `Encounter/${ENCOUNTER_ID}` },
};
const BASED_ON = { basedOn: [{ reference: `ServiceRequest/${ORDER_ID}` }] };
const CODE = { coding: [{ system: LOINC, code: '718-7', display: 'Hemoglobin [Mass/volume] in Blood' }] };
const TAKEN_AT = '2026-01-10T09:15:00+01:00';

const identified = (resourceType: string, id: string) => ({
  resourceType,
  id,
  identifier: [{ system: `urn:uuid:${ORGANISATION_ID}`, value: id }],
});

const ServiceRequest = {
  ...identified('ServiceRequest', ORDER_ID),
  status: 'completed',
  intent: 'order',
  code: CODE,
  ...SUBJECT,
  authoredOn: '2026-01-10T09:00:00+01:00',
};
const Specimen = {
  ...identified('Specimen', SPECIMEN_ID),
  status: 'available',
  type: { text: 'Venous blood' },
  subject: SUBJECT.subject,
  collection: { collectedDateTime: TAKEN_AT },
};
const Observation = {
  ...identified('Observation', RESULT_ID),
  ...BASED_ON,
  status: 'final',
  category: [
    {
      coding: [{ system: 'http://terminology.hl7.org/CodeSystem/observation-category', code: 'laboratory' }],
    },
  ],
  code: CODE,
  ...SUBJECT,
  effectiveDateTime: TAKEN_AT,
  valueQuantity: { value: 11.1, unit: 'g/dL', system: 'http://unitsofmeasure.org', code: 'g/dL' },
};
const DiagnosticReport = {
  ...identified('DiagnosticReport', REPORT_ID),
  ...BASED_ON,
  status: 'final',
  code: CODE,
  ...SUBJECT,
  effectiveDateTime: TAKEN_AT,
  issued: '2026-01-10T11:00:00.000+01:00',
  result: [{ reference: `Observation/${RESULT_ID}` }],
  conclusion: 'Mild anaemia.',
};
const ImagingStudy = {
  ...identified('ImagingStudy', STUDY_ID),
  status: 'available',
  ...SUBJECT,
  started: TAKEN_AT,
  ...BASED_ON,
  numberOfSeries: 1,
  numberOfInstances: 2,
};

/** One resource of each type that is fetched. What a fetch answers is shown with these. */
export const RESOURCE_EXAMPLES: Readonly<Record<string, { id: string }>> = {
  ServiceRequest,
  Specimen,
  Observation,
  DiagnosticReport,
  ImagingStudy,
};

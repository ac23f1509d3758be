/** Patient as FHIR R4 (https://hl7.org/fhir/R4/patient.html). Contract: HTTP-30, PAT-7. */
import { withOfficialDisplays } from '../clinical/content/official-display.ts';
import { type Identified, resourceObject } from '../clinical/description/describe.ts';
import type { FhirResource } from '../clinical/fetch/fhir-resource.ts';
import { type HeldPatient, PATIENT } from '../clinical/resources/patient.fhir.ts';
import type { PatientRecord } from './patient.ts';

export function patientResource(patient: PatientRecord): FhirResource {
  const { organisationId } = patient;
  // What is null is written as little as what is absent. Terminology maps say nothing about a patient.
  const held = patient as object as HeldPatient & Identified;
  const context = { organisationId, translate: <Concept>(concept: Concept) => concept };
  return withOfficialDisplays(resourceObject(PATIENT, held, context));
}

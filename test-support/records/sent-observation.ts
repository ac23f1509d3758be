/** An Observation as it is sent, made of a record of one laboratory result; what is kept of it as text is compared with it. */
import assert from 'node:assert/strict';
import { emitContext, unmappedCodes } from '../../src/clinical/content/coded-content.ts';
import { resourceObject } from '../../src/clinical/description/describe.ts';
import { codeMembers, occurrenceText } from '../../src/clinical/fetch/collection.fhir.ts';
import { fillObservation, openObservation } from '../../src/clinical/kept/fill-observation.fhir.ts';
import { keptObservation } from '../../src/clinical/kept/observation-text.fhir.ts';
import { OBSERVATION, type ObservationRecord } from '../../src/clinical/resources/observation.fhir.ts';
import type { Translations } from '../../src/terminology/maps/apply-map.ts';
import { clinicalFaults } from '../fhir/clinical-conformance.ts';
import { observationResource } from './observation-resources.ts';

export const ORGANISATION = '6f000000-0000-4000-8000-000000000001';
export const ID = '6f000000-0000-4000-8000-000000000002';
export const PATIENT = '6f000000-0000-4000-8000-000000000003';
export const LOCAL = { system: 'https://hospital.example/tests', code: 'NA' };

/** The resource as it is sent. */
export function sent(
  record: Partial<ObservationRecord>,
  translations: Translations = new Map(),
): Record<string, unknown> {
  const whole: ObservationRecord = {
    id: ID,
    patientId: PATIENT,
    kind: 'laboratory',
    status: 'final',
    code: { coding: [LOCAL], text: 'Natrium' },
    ...record,
  };
  const text = JSON.stringify(observationResource(whole, emitContext(ORGANISATION, translations)));
  assertKept(whole, translations, text);
  assert.deepEqual(clinicalFaults(text), []);
  return JSON.parse(text) as Record<string, unknown>;
}

/** What is kept of it as text says the same once it is filled. */
function assertKept(record: ObservationRecord, translations: Translations, text: string): void {
  const { id, orderId = '' } = record;
  const kept = openObservation(id, orderId, keptObservation(record, ORGANISATION));
  const filled = fillObservation(kept, { translations, inLaboratoryOrder: false });
  assert.equal(filled.json, text);
  const resource = JSON.parse(text);
  assert.equal(filled.code, codeMembers(resource.code));
  // A time that the profile does not allow is said in a note of the resource.
  const source = resourceObject(OBSERVATION, record, emitContext(ORGANISATION, translations));
  assert.equal(filled.summary, occurrenceText(source));
  assert.deepEqual(filled.unmapped, unmappedCodes(resource, translations));
}

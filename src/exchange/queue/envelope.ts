/** The body of a delivery. Contract: EXC-3, EXC-5, EXC-6. */
import { hash } from 'node:crypto';
import { patientResource } from '../../patients/patient.fhir.ts';
import type { PatientRecord } from '../../patients/patient.ts';

export interface EnvelopeParts {
  deliveryId: string;
  event: 'patient.created' | 'patient.updated';
  occurredAt: Date;
  organisationId: string;
  facilityId: string;
  connectionId: string;
  /** Ascends within one connection and patient: by one, or further after a restore. */
  sequence: number;
}

/** The exact text that is stored, and sent on every attempt. `resource` is the JSON text of the Patient. */
export function envelopeText(parts: EnvelopeParts, resource: string): string {
  return `${JSON.stringify(parts).slice(0, -1)},"resource":${resource}}`;
}

export interface EmittedPatient {
  /** JSON text of the FHIR Patient. */
  resource: string;
  /** Of what a change must alter to be worth a delivery. */
  digest: Buffer;
}

/**
 * The Patient as it is delivered, and the digest that tells one content from another. Version and time of change
 * are not content. Neither are ids that exchanges assigned: a callback must not cause a delivery, which would cause
 * a callback.
 */
export function emitPatient(patient: PatientRecord): EmittedPatient {
  const { meta: _meta, ...content } = patientResource({ ...patient, assignedIdentifiers: [] });
  return {
    resource: JSON.stringify(patientResource(patient)),
    digest: hash('sha256', JSON.stringify(content), 'buffer'),
  };
}

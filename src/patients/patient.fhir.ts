/** Patient as FHIR R4 (https://hl7.org/fhir/R4/patient.html). Contract: HTTP-30, PAT-7. */
import { type Identifier, ownIdentifier } from '../fhir/coded.ts';
import { compact } from '../fhir/compact.ts';
import type { ContactPoint } from '../fhir/person.ts';
import type { PatientContact, PatientRecord } from './patient.ts';

export function patientResource(patient: PatientRecord) {
  return {
    resourceType: 'Patient' as const,
    id: patient.id,
    meta: { versionId: String(patient.version), lastUpdated: patient.lastUpdated },
    ...compact({
      identifier: identifiers(patient),
      active: patient.active,
      name: patient.names,
      telecom: telecoms(patient.telecoms),
      gender: patient.gender,
      birthDate: patient.birthDate,
      // deceased[x] and multipleBirth[x] hold one type each; the more exact one goes out.
      deceasedBoolean: patient.deceasedDateTime === null ? patient.deceasedBoolean : null,
      deceasedDateTime: patient.deceasedDateTime,
      address: patient.addresses,
      maritalStatus: patient.maritalStatus,
      multipleBirthBoolean: patient.multipleBirthInteger === null ? patient.multipleBirthBoolean : null,
      multipleBirthInteger: patient.multipleBirthInteger,
      contact: patient.contacts.filter(hasDetails),
      communication: patient.communication,
    }),
  };
}

/** The source's identifiers, ours where none of them says both system and value, and those that exchanges assigned. */
function identifiers(patient: PatientRecord): Identifier[] {
  const { identifiers, assignedIdentifiers = [], organisationId, id } = patient;
  const isComplete = ({ system, value }: Identifier) => system !== undefined && value !== undefined;
  const own = identifiers.some(isComplete) ? [] : [ownIdentifier(organisationId, id)];
  return [...identifiers, ...own, ...assignedIdentifiers];
}

/** R4 invariant cpt-2: a value needs a system. */
function telecoms(telecoms: readonly ContactPoint[]): ContactPoint[] {
  return telecoms.map((point) =>
    point.value !== undefined && point.system === undefined ? { ...point, system: 'other' } : point,
  );
}

/** R4 invariant pat-1: a contact says who it is, or is left out. */
function hasDetails({ name, telecom, address }: PatientContact): boolean {
  return name !== undefined || telecom !== undefined || address !== undefined;
}

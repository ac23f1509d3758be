/** A Bundle with one record of each kind that is taken, but no Specimen; all tied to one another. */
import { randomUUID } from 'node:crypto';

export interface SamplePerson {
  family: string;
  given: string;
  identifier: string;
  phone: string;
  email: string;
  birthDate: string;
}

const ANYONE: SamplePerson = {
  family: 'Sample',
  given: 'Sam',
  identifier: 'S-1',
  phone: '+999 555 0100',
  email: 'sam@example.org',
  birthDate: '1970-01-31',
};

export interface SampleBundle {
  resourceType: 'Bundle';
  type: 'collection';
  entry: { fullUrl: string; resource: { [name: string]: unknown } }[];
}

const concept = (system: string, code: string, text?: string) => ({
  coding: [{ system, code }],
  ...(text === undefined ? {} : { text }),
});
const HBA1C = concept('http://loinc.org', '4548-4', 'Hemoglobin A1c');
const period = { start: '2026-01-10T08:00:00Z', end: '2026-01-10T09:00:00Z' };

export function sampleBundle(person: SamplePerson = ANYONE): SampleBundle {
  const ids = new Map<string, string>();
  const id = (name: string) => ids.get(name) ?? ids.set(name, randomUUID()).get(name) ?? '';
  const to = (name: string) => ({ reference: `urn:uuid:${id(name)}` });
  const entry = (resourceType: string, content: object) => ({
    fullUrl: `urn:uuid:${id(resourceType)}`,
    resource: { resourceType, id: id(resourceType), ...content },
  });
  return {
    resourceType: 'Bundle',
    type: 'collection',
    entry: [
      entry('Patient', patient(person)),
      entry('Organization', { name: 'Sample Hospital', active: true }),
      entry('Practitioner', { name: [{ family: 'Doctor', given: ['Dee'] }] }),
      entry('Location', { name: 'Ward', status: 'active', managingOrganization: to('Organization') }),
      entry('Encounter', {
        status: 'finished',
        class: { system: 'http://terminology.hl7.org/CodeSystem/v3-ActCode', code: 'AMB' },
        subject: to('Patient'),
        serviceProvider: to('Organization'),
        participant: [{ individual: to('Practitioner'), period }],
        location: [{ location: to('Location') }],
        period,
      }),
      entry('ServiceRequest', {
        status: 'completed',
        intent: 'order',
        category: [concept('http://snomed.info/sct', '108252007')],
        code: HBA1C,
        subject: to('Patient'),
        encounter: to('Encounter'),
        authoredOn: period.start,
      }),
      entry('Observation', {
        status: 'final',
        category: [concept('http://terminology.hl7.org/CodeSystem/observation-category', 'laboratory')],
        code: HBA1C,
        subject: { ...to('Patient'), display: `${person.given} ${person.family}` },
        encounter: to('Encounter'),
        effectiveDateTime: period.start,
        valueQuantity: { value: 6.1, unit: '%', system: 'http://unitsofmeasure.org', code: '%' },
      }),
      entry('DiagnosticReport', {
        status: 'final',
        category: [concept('http://terminology.hl7.org/CodeSystem/v2-0074', 'LAB')],
        code: HBA1C,
        subject: to('Patient'),
        encounter: to('Encounter'),
        basedOn: [to('ServiceRequest')],
        effectiveDateTime: period.start,
        issued: period.end,
        result: [to('Observation')],
        conclusion: `All is well with ${person.family}.`,
      }),
      entry('ImagingStudy', {
        status: 'available',
        subject: to('Patient'),
        encounter: to('Encounter'),
        started: period.start,
        series: [
          {
            uid: '1.2.3',
            modality: { system: 'http://dicom.nema.org/resources/ontology/DCM', code: 'DX' },
          },
        ],
      }),
    ],
  };
}

function patient(person: SamplePerson): object {
  return {
    identifier: [{ system: 'urn:example:mrn', value: person.identifier }],
    name: [{ use: 'official', family: person.family, given: [person.given] }],
    telecom: [
      { system: 'phone', value: person.phone },
      { system: 'email', value: person.email },
    ],
    gender: 'female',
    birthDate: person.birthDate,
    address: [{ line: ['1 Sample Street'], city: 'Lagos', country: 'NG' }],
  };
}

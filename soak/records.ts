/** The patients of the soak, with one record of each kind. */
import { randomUUID } from 'node:crypto';
import { type SampleBundle, sampleBundle } from '../test-support/records/sample-bundle.ts';

const IDENTIFIER_SYSTEM = 'urn:example:mrn';

/** As the source of the records has it. */
export interface SourcePatient {
  number: number;
  bundle: SampleBundle;
}

export function makePatient(number: number): SourcePatient {
  const bundle = sampleBundle({
    family: `Soak ${number}`,
    given: roundName(1),
    identifier: identifierOf(number),
    phone: `+999 555 ${String(number).padStart(5, '0')}`,
    email: `soak-${number}@example.org`,
    birthDate: '1970-01-31',
  });
  bundle.entry.push(heartRate(bundle));
  return { number, bundle };
}

export function identifierOf(number: number): string {
  return `SOAK-${number}`;
}

export function roundName(round: number): string {
  return `Round ${round}`;
}

/** Which patient and which of its changes a Patient resource is. */
export function contentOf(resource: object): { patient: number; round: number } {
  const { identifier, name } = resource as {
    identifier?: { system?: string; value?: string }[];
    name?: { given?: string[] }[];
  };
  const own = identifier?.find(({ system }) => system === IDENTIFIER_SYSTEM);
  return {
    patient: Number(own?.value?.slice('SOAK-'.length)),
    round: Number(name?.[0]?.given?.[0]?.slice('Round '.length)),
  };
}

/** The Patient as it is after so many changes. */
export function patientAt({ bundle }: SourcePatient, round: number): { [element: string]: unknown } {
  const [first] = bundle.entry;
  const patient = structuredClone(first?.resource ?? {});
  const [name] = patient.name as { given: string[] }[];
  if (name !== undefined) name.given = [roundName(round)];
  return patient;
}

/** Everything of the patient, as it is after so many changes. */
export function bundleAt(source: SourcePatient, round: number): SampleBundle {
  const bundle = structuredClone(source.bundle);
  const [first] = bundle.entry;
  if (first !== undefined) first.resource = patientAt(source, round);
  return bundle;
}

function heartRate({ entry }: SampleBundle): SampleBundle['entry'][number] {
  const to = (type: string) => ({
    reference: entry.find(({ resource }) => resource.resourceType === type)?.fullUrl ?? '',
  });
  const id = randomUUID();
  return {
    fullUrl: `urn:uuid:${id}`,
    resource: {
      resourceType: 'Observation',
      id,
      status: 'final',
      category: [
        {
          coding: [
            { system: 'http://terminology.hl7.org/CodeSystem/observation-category', code: 'vital-signs' },
          ],
        },
      ],
      code: { coding: [{ system: 'http://loinc.org', code: '8867-4' }] },
      subject: to('Patient'),
      encounter: to('Encounter'),
      effectiveDateTime: '2026-01-10T08:15:00Z',
      valueQuantity: { value: 72, unit: '/min', system: 'http://unitsofmeasure.org', code: '/min' },
    },
  };
}

/** Small FHIR R4 records of an imaginary clinic, for tests of the import. */
import { randomUUID } from 'node:crypto';

export type Resource = { resourceType: string; [element: string]: unknown };

export const LICENCE = 'https://clinic.example/licence';
export const NUMBER = 'https://clinic.example/number';
const ACT_CODE = 'http://terminology.hl7.org/CodeSystem/v3-ActCode';

export function organization(changes: Partial<Resource> = {}): Resource {
  return {
    resourceType: 'Organization',
    id: randomUUID(),
    identifier: [{ system: NUMBER, value: `ORG-${randomUUID()}` }],
    name: 'Hill Clinic',
    ...changes,
  };
}

export function practitioner(changes: Partial<Resource> = {}): Resource {
  return {
    resourceType: 'Practitioner',
    id: randomUUID(),
    identifier: [{ system: LICENCE, value: `LIC-${randomUUID()}` }],
    name: [{ family: 'Brook', given: ['Ada'], prefix: ['Dr.'] }],
    ...changes,
  };
}

export function patient(changes: Partial<Resource> = {}): Resource {
  return {
    resourceType: 'Patient',
    id: randomUUID(),
    identifier: [{ system: NUMBER, value: `PAT-${randomUUID()}` }],
    name: [{ use: 'official', family: 'Rivers', given: ['Noor'] }],
    gender: 'female',
    birthDate: '1984-05-01',
    ...changes,
  };
}

export function encounter(subject: string, changes: Partial<Resource> = {}): Resource {
  return {
    resourceType: 'Encounter',
    id: randomUUID(),
    status: 'finished',
    class: { system: ACT_CODE, code: 'AMB' },
    subject: { reference: subject },
    period: { start: '2024-02-03T10:00:00+01:00', end: '2024-02-03T10:20:00+01:00' },
    ...changes,
  };
}

/** As a Bundle calls it that has no other address for it. */
export const urnOf = (resource: Resource): string => `urn:uuid:${String(resource.id)}`;

/** Its first one. */
export const identifierOf = (resource: Resource) =>
  (resource.identifier as { system: string; value: string }[])[0];

export interface Entry {
  fullUrl?: string;
  resource: Resource;
  request?: Record<string, unknown>;
}

/** A Bundle of resources, each under `urn:uuid:<id>`; entries that are given whole stay as they are. */
export function bundle(items: readonly (Resource | Entry)[], type = 'transaction'): Resource {
  const entry = items.map((item): Entry => {
    if ('resource' in item) return item as Entry;
    const resource = item as Resource;
    return { fullUrl: `urn:uuid:${String(resource.id)}`, resource };
  });
  return { resourceType: 'Bundle', type, entry };
}

/** An entry with a request, as transaction Bundles have it. */
export function conditionalCreate(resource: Resource, ifNoneExist?: string): Entry {
  const [identifier] = resource.identifier as { system: string; value: string }[];
  return {
    fullUrl: `urn:uuid:${String(resource.id)}`,
    resource,
    request: {
      method: 'POST',
      url: resource.resourceType,
      ifNoneExist: ifNoneExist ?? `identifier=${identifier?.system}|${identifier?.value}`,
    },
  };
}

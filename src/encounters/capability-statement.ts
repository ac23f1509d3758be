/**
 * What the FHIR read interface can do (https://hl7.org/fhir/R4/capabilitystatement.html).
 * Contract: ENC-34.
 */

/** Day of the last change of this statement. */
const CHANGED = '2026-11-21';

const definition = (name: string) => `http://hl7.org/fhir/SearchParameter/${name}`;

/** `publicBaseUrl` ends in /api/v1. */
export function capabilityStatement(publicBaseUrl: string): Record<string, unknown> {
  return {
    resourceType: 'CapabilityStatement',
    status: 'active',
    date: CHANGED,
    kind: 'instance',
    software: { name: 'interchange' },
    implementation: {
      description: 'Encounters of one organisation and facility, for reading.',
      url: `${publicBaseUrl}/encounters/fhir`,
    },
    fhirVersion: '4.0.1',
    format: ['application/fhir+json', 'json'],
    rest: [
      {
        mode: 'server',
        documentation:
          'Calls name organisation and facility in the headers x-org-id and x-facility-id, or take the defaults of the account.',
        security: {
          cors: false,
          description: `Bearer access token of an integration account, from ${publicBaseUrl}/auth/login. This statement is open to anyone.`,
        },
        resource: [encounterCapability()],
      },
    ],
  };
}

function encounterCapability(): Record<string, unknown> {
  return {
    type: 'Encounter',
    profile: 'http://hl7.org/fhir/StructureDefinition/Encounter',
    documentation:
      'Reads and searches both need the query parameter purposeOfUse (TREATMENT, PAYMENT, OPS or RESEARCH). Searches are answered newest first, without total; follow the next link.',
    interaction: [{ code: 'read' }, { code: 'search-type' }],
    versioning: 'versioned',
    readHistory: false,
    updateCreate: false,
    conditionalCreate: false,
    conditionalRead: 'not-match',
    conditionalUpdate: false,
    conditionalDelete: 'not-supported',
    referencePolicy: ['literal'],
    searchParam: [
      {
        name: 'patient',
        definition: definition('clinical-patient'),
        type: 'reference',
        documentation: 'Required, once, unless subject is given: the id, bare or as Patient/<id>.',
      },
      {
        name: 'subject',
        definition: definition('Encounter-subject'),
        type: 'reference',
        documentation: 'The same as patient; one of them is enough.',
      },
      {
        name: '_id',
        definition: definition('Resource-id'),
        type: 'token',
        documentation: 'The id of one Encounter of the patient.',
      },
      {
        name: 'status',
        definition: definition('Encounter-status'),
        type: 'token',
        documentation:
          'One status, with or without the system http://hl7.org/fhir/encounter-status; an unknown one is an error.',
      },
      {
        name: 'date',
        definition: definition('clinical-date'),
        type: 'date',
        documentation: 'Up to two values, which both hold; prefixes ge, le, eq or none.',
      },
      {
        name: 'purposeOfUse',
        type: 'token',
        documentation: "Required, once. It is written to the patient's access log.",
      },
      { name: '_count', type: 'number', documentation: 'Page size, 1 to 100; 20 without it.' },
    ],
  };
}

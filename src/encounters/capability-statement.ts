/**
 * Show what the FHIR read interface can do (https://hl7.org/fhir/R4/capabilitystatement.html).
 * Contract: ENC-34.
 */

/** Day of the last change of this statement. */
const CHANGED = '2026-11-27';

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
      description: 'Read and search the Encounters of one facility.',
      url: `${publicBaseUrl}/encounters/fhir`,
    },
    fhirVersion: '4.0.1',
    format: ['application/fhir+json', 'json'],
    rest: [
      {
        mode: 'server',
        documentation:
          'Calls name the organisation and the facility in the headers x-org-id and x-facility-id. Without the headers, the defaults of the account apply.',
        security: {
          cors: false,
          description: `Bearer access token of an integration account, from ${publicBaseUrl}/auth/login. Anyone may read this statement.`,
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
      'Reads and searches both need the query parameter purposeOfUse (TREATMENT, PAYMENT, OPS or RESEARCH). A search answers the newest Encounter first and gives no total; follow the next link. Other parameters, such as _summary, _sort and _include, are ignored, or an error with Prefer: handling=strict.',
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
        documentation:
          'Required, unless subject is given. Given once: the patient id, alone or as Patient/<id>.',
      },
      {
        name: 'subject',
        definition: definition('Encounter-subject'),
        type: 'reference',
        documentation: 'The same as patient. Send one of them.',
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
          'One status, with or without the system http://hl7.org/fhir/encounter-status. An unknown status is an error.',
      },
      {
        name: 'date',
        definition: definition('clinical-date'),
        type: 'date',
        documentation:
          'Up to two values, which must both match, each with the prefix ge, le, eq or no prefix.',
      },
      {
        name: 'purposeOfUse',
        type: 'token',
        documentation: "Required, once. The service writes it to the patient's access log.",
      },
      { name: '_count', type: 'number', documentation: 'Page size, 1 to 100. Default: 20.' },
    ],
  };
}

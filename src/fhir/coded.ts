/** Data types that carry codes and identifiers (FHIR R4, "Data Types"). Never empty: absent instead. */

export interface Coding {
  system?: string;
  version?: string;
  code?: string;
  display?: string;
  userSelected?: boolean;
}

export interface CodeableConcept {
  coding?: Coding[];
  text?: string;
}

export interface Period {
  start?: string;
  end?: string;
}

export interface Identifier {
  use?: string;
  type?: CodeableConcept;
  system?: string;
  value?: string;
  period?: Period;
  assigner?: Reference;
}

export interface Reference {
  reference?: string;
  identifier?: Identifier;
  display?: string;
}

/**
 * The business identifier that this service gives a record whose source named none: the organisation is the
 * namespace, so that it stays the same when addresses change.
 */
export function ownIdentifier(organisationId: string, id: string): Identifier {
  return { system: `urn:uuid:${organisationId}`, value: id };
}

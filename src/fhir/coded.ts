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
export function ownIdentifier(organisationId: string, id: string): { system: string; value: string } {
  return { system: `urn:uuid:${organisationId}`, value: id };
}

/** True for {@link ownIdentifier} of the record with this id, in whichever organisation. */
export function isOwnIdentifier({ system, value }: Identifier, id: string): boolean {
  return value === id && system?.startsWith('urn:uuid:') === true;
}

/** Those of the source, and ours where none of them says both system and value: a value alone is nobody's. */
export function businessIdentifiers(
  given: readonly Identifier[] | undefined,
  organisationId: string,
  id: string,
): Identifier[] {
  const isComplete = ({ system, value }: Identifier) => system !== undefined && value !== undefined;
  return given?.some(isComplete) === true
    ? [...given]
    : [...(given ?? []), ownIdentifier(organisationId, id)];
}

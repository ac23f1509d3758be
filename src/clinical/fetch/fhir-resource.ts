/** A resource that is ready to be sent, and the choices that all mappers of clinical records share. */
import type { CodeableConcept, Identifier } from '../../fhir/coded.ts';
import { ownIdentifier } from '../../fhir/coded.ts';
import type { Annotation, RecordPointer } from '../observations/observation.ts';

/** A FHIR R4 resource. `JSON.stringify` leaves absent elements out and writes decimals digit for digit. */
export interface FhirResource {
  resourceType: string;
  id: string;
  readonly [element: string]: unknown;
}

/** What a mapper needs beside the record. */
export interface EmitContext {
  organisationId: string;
  /** The concept as the terminology maps make it: standard codings first, local ones kept. */
  translate: (concept: CodeableConcept) => CodeableConcept;
}

/** `Patient/<id>` and the like; a record that is not here keeps its name only (R4, "References"). */
export function reference(pointer: RecordPointer | undefined): Record<string, string> | undefined {
  if (pointer === undefined) return undefined;
  const { type, id, display } = pointer;
  const literal = type === undefined || id === undefined ? undefined : `${type}/${id}`;
  if (literal === undefined && display === undefined) return undefined;
  return {
    ...(literal === undefined ? {} : { reference: literal }),
    ...(display === undefined ? {} : { display }),
  };
}

/** The references that say something; undefined for none: FHIR has no empty lists. */
export function references(pointers: readonly RecordPointer[] | undefined) {
  const list = pointers?.map(reference).filter((item) => item !== undefined);
  return list === undefined || list.length === 0 ? undefined : list;
}

/** The source's identifiers, or our own where it named none. */
export function identifiers(context: EmitContext, id: string, own: Identifier[] | undefined): Identifier[] {
  return own ?? [ownIdentifier(context.organisationId, id)];
}

/** `encounter`: the visit here, or what it was called. */
export function encounterReference(id: string | undefined, display: string | undefined) {
  return reference({
    ...(id === undefined ? {} : { type: 'Encounter', id }),
    ...(display === undefined ? {} : { display }),
  });
}

export function annotations(notes: readonly Annotation[] | undefined) {
  return notes?.map(({ authorReference, ...note }) => ({
    ...(authorReference === undefined ? {} : { authorReference: reference(authorReference) }),
    ...note,
  }));
}

/** A list of concepts, translated one by one. */
export function translateAll(context: EmitContext, concepts: readonly CodeableConcept[] | undefined) {
  return concepts?.map((concept) => context.translate(concept));
}

/** Encounter as FHIR R4, as it is read and searched (https://hl7.org/fhir/R4/encounter.html). Contract: HTTP-30. */
import {
  type Identified,
  type RecordOf,
  resourceObject,
  resourceText,
} from '../clinical/description/describe.ts';
import type { EmitContext } from '../clinical/description/element.ts';
import type { FhirResource } from '../clinical/fetch/fhir-resource.ts';
import { ENCOUNTER, type EncounterRow } from '../clinical/resources/encounter.fhir.ts';
import type { CodeableConcept } from '../fhir/coded.ts';

/** An encounter as the internal model holds it. Dates are FHIR text. */
export interface EncounterRecord extends EncounterRow {
  version: number;
  /** FHIR instant of the last change. */
  lastUpdated: string;
}

/** The resource as JSON text. */
export function encounterJson(encounter: EncounterRecord, organisationId: string): string {
  return resourceText(ENCOUNTER, known(encounter), contextOf(organisationId));
}

/** The resource as an object. */
export function encounterResource(encounter: EncounterRecord, organisationId: string): FhirResource {
  return resourceObject(ENCOUNTER, known(encounter), contextOf(organisationId));
}

/** What is null is written as little as what is absent. */
function known(encounter: EncounterRecord) {
  return encounter as RecordOf<typeof ENCOUNTER> & Required<Identified>;
}

function contextOf(organisationId: string): EmitContext {
  return { organisationId, translate: asItIs };
}

/** Terminology maps say nothing about an encounter. */
function asItIs(concept: CodeableConcept): CodeableConcept {
  return concept;
}

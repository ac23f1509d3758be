/** Encounter as FHIR R4, as it is read and searched (https://hl7.org/fhir/R4/encounter.html). Contract: HTTP-30. */
import { mayBeMapped } from '../clinical/content/coded-content.ts';
import { withOfficialDisplays } from '../clinical/content/official-display.ts';
import type { RecordRow } from '../clinical/description/describe.ts';
import { jsonObject } from '../clinical/description/output.ts';
import type { FhirResource } from '../clinical/fetch/fhir-resource.ts';
import { membersAsObjects } from '../clinical/kept/stored-row.fhir.ts';
import { ENCOUNTER, type EncounterRow } from '../clinical/resources/encounter.fhir.ts';
import type { CodeableConcept } from '../fhir/coded.ts';
import { parseFhirJson } from '../fhir/json.ts';

/**
 * The version of what {@link encounterElements} writes. Raise it by one whenever that changes for an Encounter that
 * stays as it is, such as for a new element: kept texts of another version are rendered anew (docs/adr/0120).
 * `encounter.fhir.test.ts` says when it was forgotten.
 */
export const ENCOUNTER_MAPPING = 4;

/** An Encounter as it is answered. */
export interface RenderedEncounter {
  id: string;
  patientId: string;
  version: number;
  /** FHIR instant of the last change. */
  lastUpdated: string;
  /** What {@link encounterElements} wrote. */
  elements: string;
  /** Of what terminology maps say of it; see `weakEtag`. */
  variant?: string;
}

/** What of an Encounter terminology maps are asked for. */
export interface Participated {
  participant?: { type?: CodeableConcept[] }[];
}

/** Stands before elements of which a terminology map may say more. White space changes nothing for a reader of JSON. */
const MAY_BE_MAPPED = ' ';

/** What follows `meta` in the JSON text of the resource, to the end of the object. */
export function encounterElements(encounter: EncounterRow, organisationId: string): string {
  const context = { organisationId, translate: asItIs };
  const written = jsonObject((output) => ENCOUNTER.write(output, encounter, context)) as Participated;
  const elements = JSON.stringify(withOfficialDisplays(written)).slice(1);
  return participations(written).some(mayBeMapped) ? `${MAY_BE_MAPPED}${elements}` : elements;
}

/** How the clinicians took part. */
export function participations({ participant = [] }: Participated): CodeableConcept[] {
  return participant.flatMap(({ type = [] }) => type);
}

/** Whether a terminology map may say more of the Encounter. */
export function isOpenToMaps({ elements }: RenderedEncounter): boolean {
  return elements.startsWith(MAY_BE_MAPPED);
}

/** The resource as JSON text. */
export function encounterJson({ id, version, lastUpdated, elements }: RenderedEncounter): string {
  return `{"resourceType":"Encounter","id":"${id}","meta":{"versionId":"${version}","lastUpdated":"${lastUpdated}"},${elements}`;
}

/** The resource as an object. */
export function encounterResource(encounter: RenderedEncounter): FhirResource {
  return parseFhirJson(encounterJson(encounter)) as FhirResource;
}

/** The Encounter that is read once an import has stored this row. */
export function storedEncounter({ id, values, children }: RecordRow): EncounterRow {
  const { encounter_participant: participants = [], encounter_location: locations = [] } = children;
  return {
    ...membersAsObjects(values),
    id,
    start: values.period_start_source,
    end: values.period_end_source,
    participants: participants.map(membersAsObjects),
    locations: locations.map(membersAsObjects),
  } as unknown as EncounterRow;
}

/** Terminology maps are asked when the Encounter is read: mapped-participations.ts. */
function asItIs(concept: CodeableConcept): CodeableConcept {
  return concept;
}

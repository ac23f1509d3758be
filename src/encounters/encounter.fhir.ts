/**
 * Encounter as FHIR R4 (https://hl7.org/fhir/R4/encounter.html), written straight as JSON text: coded values
 * are kept as the JSON they came in and are copied, never parsed again (docs/adr/0007).
 * Contract: HTTP-30, ENC-3, ENC-5, ENC-6, ENC-7, ENC-8, ENC-9.
 */
import { ACT_CODE_SYSTEM, ENCOUNTER_CLASS_DISPLAY } from '../fhir/act-code.ts';
import { ownIdentifier } from '../fhir/coded.ts';

export type EncounterStatus = 'planned' | 'in-progress' | 'finished' | 'cancelled' | 'entered-in-error';

/** What stands for an element whose value is not known. */
const UNKNOWN =
  '{"extension":[{"url":"http://hl7.org/fhir/StructureDefinition/data-absent-reason","valueCode":"unknown"}]}';

/** JSON text of a non-empty FHIR value, or null. */
export type JsonText = string | null;

/** One clinician: practitioner id, display, types (CodeableConcept[] as JSON text), start and end of the part. */
export type Participant = readonly [
  practitionerId: string | null,
  display: string | null,
  type: JsonText,
  start: string | null,
  end: string | null,
];

/** One place: location id, display, status, start and end of the stay. */
export type EncounterLocation = readonly [
  locationId: string | null,
  display: string | null,
  status: string | null,
  start: string | null,
  end: string | null,
];

/** An encounter as the internal model holds it. Dates are FHIR text. */
export interface EncounterRecord {
  organisationId: string;
  id: string;
  patientId: string;
  status: EncounterStatus;
  classCode: string;
  /** Interval of the visit; `end` is null while it is open. */
  start: string | null;
  end: string | null;
  identifier: JsonText;
  type: JsonText;
  priority: JsonText;
  reasonCode: JsonText;
  dischargeDisposition: JsonText;
  serviceProviderId: string | null;
  serviceProviderDisplay: string | null;
  participants: readonly Participant[];
  locations: readonly EncounterLocation[];
  version: number;
  /** FHIR instant of the last change. */
  lastUpdated: string;
}

/** The resource as JSON text. */
export function encounterJson(encounter: EncounterRecord): string {
  const { organisationId, id } = encounter;
  const identifier = encounter.identifier ?? JSON.stringify([ownIdentifier(organisationId, id)]);
  let text = `{"resourceType":"Encounter","id":"${id}","meta":{"versionId":"${encounter.version}","lastUpdated":"${encounter.lastUpdated}"}`;
  text += `,"identifier":${identifier},"status":"${encounter.status}","class":${classJson(encounter.classCode)}`;
  text += member('type', encounter.type) + member('priority', encounter.priority);
  text += `,"subject":{"reference":"Patient/${encounter.patientId}"}`;
  text += member('participant', list(encounter.participants, participantJson));
  text += member('period', visitPeriodJson(encounter));
  text += member('reasonCode', encounter.reasonCode);
  if (encounter.dischargeDisposition !== null)
    text += `,"hospitalization":{"dischargeDisposition":${encounter.dischargeDisposition}}`;
  text += member('location', list(encounter.locations, locationJson));
  return `${text},"serviceProvider":${serviceProviderJson(encounter)}}`;
}

/** The organisation that the source named; without one, the tenant itself is responsible. */
function serviceProviderJson(encounter: EncounterRecord): string | null {
  const { serviceProviderId, serviceProviderDisplay, organisationId } = encounter;
  return serviceProviderId === null
    ? referenceJson('Organization', organisationId, null)
    : referenceJson('Organization', serviceProviderId, serviceProviderDisplay);
}

/** `Encounter.class` is a Coding; the display is the official one or none. */
function classJson(code: string): string {
  const display = ENCOUNTER_CLASS_DISPLAY[code];
  const start = `{"system":"${ACT_CODE_SYSTEM}","code":${JSON.stringify(code)}`;
  return display === undefined ? `${start}}` : `${start},"display":"${display}"}`;
}

function participantJson([practitionerId, display, type, start, end]: Participant): string | null {
  const individual = referenceJson('Practitioner', practitionerId, display);
  return object(
    member('type', type) + member('period', periodJson(start, end)) + member('individual', individual),
  );
}

/** `Encounter.location.location` is 1..1, so a place without a reference or a name is left out. */
function locationJson([locationId, display, status, start, end]: EncounterLocation): string | null {
  const location = referenceJson('Location', locationId, display);
  if (location === null) return null;
  return object(
    member('location', location) + text('status', status) + member('period', periodJson(start, end)),
  );
}

function referenceJson(resourceType: string, id: string | null, display: string | null): string | null {
  return object((id === null ? '' : `,"reference":"${resourceType}/${id}"`) + text('display', display));
}

/**
 * A Period without an end goes on (R4, "Period"). A visit that is finished does not: its end is not known, which
 * the extension says (https://hl7.org/fhir/R4/extension-data-absent-reason.html).
 */
function visitPeriodJson({ status, start, end }: EncounterRecord): string | null {
  const endUnknown = status === 'finished' && start !== null && end === null;
  return object(text('start', start) + text('end', end) + member('_end', endUnknown ? UNKNOWN : null));
}

function periodJson(start: string | null, end: string | null): string | null {
  return object(text('start', start) + text('end', end));
}

function list<T>(items: readonly T[], write: (item: T) => string | null): string | null {
  let written = '';
  for (const item of items) {
    const json = write(item);
    if (json !== null) written += written === '' ? json : `,${json}`;
  }
  return written === '' ? null : `[${written}]`;
}

/** `,"name":<json>`, or nothing. */
function member(name: string, json: string | null): string {
  return json === null ? '' : `,"${name}":${json}`;
}

/** `,"name":"value"`, or nothing: FHIR has no empty strings. */
function text(name: string, value: string | null): string {
  return value === null || value === '' ? '' : `,"${name}":${JSON.stringify(value)}`;
}

/** An object of the members written, or null for none: FHIR has no empty objects. */
function object(members: string): string | null {
  return members === '' ? null : `{${members.slice(1)}}`;
}

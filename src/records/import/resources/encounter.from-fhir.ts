/** Encounter (https://hl7.org/fhir/R4/encounter.html) as rows. Contract: ENC-3, ENC-36. */
import type { RecordRow } from '../../../clinical/description/describe.ts';
import { ACT_CODE_SYSTEM, ENCOUNTER_CLASS_DISPLAY } from '../../../fhir/act-code.ts';
import type { CodeableConcept, Identifier } from '../../../fhir/coded.ts';
import {
  codeableConcept,
  identifier,
  lastInstant,
  list,
  optional,
  periodBounds,
} from '../../../fhir/reading/datatypes.ts';
import type { ElementReader } from '../../../fhir/reading/element-reader.ts';
import type { MapContext } from '../map/resource-importer.ts';

const STATUSES = ['planned', 'in-progress', 'finished', 'cancelled', 'entered-in-error'] as const;
/** R4 statuses of a visit that is under way, which the model does not tell apart. */
const UNDER_WAY = ['arrived', 'triaged', 'onleave'] as const;
const LOCATION_STATUSES = ['planned', 'active', 'reserved', 'completed'] as const;

export function encounterFromFhir(encounter: ElementReader, context: MapContext): RecordRow {
  const { timeZone } = context.scope;
  const period = encounter.child('period');
  const { start, end } = period === undefined ? {} : periodBounds(period);
  const startsAt = start?.span(timeZone).start.toISOString();
  const identifiers = list(encounter.children('identifier').map(identifier));
  const provider = context.reference(encounter, 'serviceProvider', ['Organization']);
  return {
    id: context.id,
    values: {
      patient_id: context.requiredReference(encounter, 'subject', ['Patient']).id,
      status: status(encounter, context),
      ...encounterClass(encounter),
      period_start: startsAt,
      period_end: end === undefined ? undefined : lastInstant(end, timeZone).toISOString(),
      period_start_source: start?.text,
      period_end_source: end?.text,
      sort_start: startsAt ?? '-infinity',
      identifier: identifiers,
      type: list(encounter.children('type').map(codeableConcept)),
      priority: optional(encounter.child('priority'), codeableConcept),
      reason_code: list(encounter.children('reasonCode').map(codeableConcept)),
      discharge_disposition: dischargeDisposition(encounter),
      service_provider_id: provider?.target?.id,
      service_provider_display: provider?.display,
    },
    children: {
      encounter_participant: participants(encounter, context),
      encounter_location: locations(encounter, context),
      encounter_identifier: distinctIdentifiers(identifiers ?? []),
    },
  };
}

function status(encounter: ElementReader, context: MapContext): string {
  const given = encounter.required('status', encounter.code('status', [...STATUSES, ...UNDER_WAY]));
  if (!(UNDER_WAY as readonly string[]).includes(given)) return given;
  context.notKept('Encounter.status');
  return 'in-progress';
}

/** `class` is a Coding of v3 ActCode; its system may be left out where the code is a known encounter class. */
function encounterClass(encounter: ElementReader) {
  const reader = encounter.required('class', encounter.child('class'));
  const code = reader.required('code', reader.code('code'));
  const system = reader.uri('system');
  if (system === undefined && !Object.hasOwn(ENCOUNTER_CLASS_DISPLAY, code))
    reader.fail(
      'system',
      `is missing, and the code is none of ${Object.keys(ENCOUNTER_CLASS_DISPLAY).join(', ')}`,
    );
  if (system !== undefined && system !== ACT_CODE_SYSTEM) reader.fail('system', `is not ${ACT_CODE_SYSTEM}`);
  return { class_code: code, class_display: reader.string('display') };
}

function dischargeDisposition(encounter: ElementReader): CodeableConcept | undefined {
  const hospitalization = encounter.child('hospitalization');
  return optional(hospitalization?.child('dischargeDisposition'), codeableConcept);
}

function participants(encounter: ElementReader, context: MapContext): Record<string, unknown>[] {
  return encounter.children('participant').map((participant, position) => {
    const individual = context.reference(participant, 'individual', ['Practitioner']);
    return {
      position,
      practitioner_id: individual?.target?.id,
      display: individual?.display,
      type: list(participant.children('type').map(codeableConcept)),
      ...periodTexts(participant),
    };
  });
}

function locations(encounter: ElementReader, context: MapContext): Record<string, unknown>[] {
  return encounter.children('location').map((stay, position) => {
    const location = context.reference(stay, 'location', ['Location']);
    return {
      position,
      location_id: stay.required('location', location).target?.id,
      display: location?.display,
      status: stay.code('status', LOCATION_STATUSES),
      ...periodTexts(stay),
    };
  });
}

function periodTexts(parent: ElementReader) {
  const period = parent.child('period');
  const { start, end } = period === undefined ? {} : periodBounds(period);
  return { period_start: start?.text, period_end: end?.text };
}

/** What conditional references look for: those with a system and a value, once each. */
function distinctIdentifiers(identifiers: readonly Identifier[]): Record<string, unknown>[] {
  const complete = identifiers.filter(({ system, value }) => system !== undefined && value !== undefined);
  const distinct = new Map(complete.map(({ system, value }) => [`${system}|${value}`, { system, value }]));
  return [...distinct.values()].map((key, position) => ({ position, ...key }));
}

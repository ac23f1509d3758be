/**
 * Observation (https://hl7.org/fhir/R4/observation.html): a laboratory result, a vital sign, or both (docs/adr/0040).
 * Pure: no clock, no I/O. Contract: FETCH-36, HTTP-30, IN-33.
 */
import type { CodeableConcept, Coding } from '../../fhir/coded.ts';
import type { Quantity } from '../../fhir/measured.ts';
import { OBSERVATION_CATEGORY } from '../../terminology/lookup/code-systems.ts';
import { describeResource, type RecordOf, type RecordRow, resourceObject } from '../description/describe.ts';
import {
  derived,
  type Element,
  type EmitContext,
  type Found,
  grouped,
  NOTHING,
  onlyStored,
  type Read,
  required,
  type Values,
} from '../description/element.ts';
import { type ExtensionType, extensions } from '../description/extensions.ts';
import {
  categories,
  code,
  concept,
  concepts,
  exact,
  identifiers,
  mappedConcept,
  mappedConcepts,
  string,
} from '../description/kinds.ts';
import { list } from '../description/list.ts';
import { effective, moment } from '../description/moments.ts';
import {
  ACTORS,
  basedOnOrder,
  notes,
  reference,
  referenceColumns,
  references,
  subject,
} from '../description/pointer.ts';
import { joinPressures } from '../observations/blood-pressure.fhir.ts';
import { bound, rangeInUcum, type ValueType, value } from '../observations/value.fhir.ts';
import {
  hasVitalSignCode,
  isInUnfitUnit,
  lacksRequiredValue,
  withProfileCode,
} from '../observations/vital-sign.fhir.ts';
import { UNKNOWN } from '../observations/vital-value.fhir.ts';

const STATUSES = [
  'registered',
  'preliminary',
  'final',
  'amended',
  'corrected',
  'cancelled',
  'entered-in-error',
  'unknown',
] as const;

/** What an observation is. Grouping and the discipline of its order go by it. */
export type ObservationKind = 'laboratory' | 'vital-sign' | 'imaging' | 'other';

const LABORATORY: CodeableConcept = {
  coding: [{ system: OBSERVATION_CATEGORY, code: 'laboratory', display: 'Laboratory' }],
};

/** Ranges to read a value against. `position` is -1 for those of the whole; those of a component have its position. */
function referenceRanges(position?: -1) {
  return list('Observation.referenceRange', {
    table: 'observation_reference_range',
    parent: 'observation_id',
    alias: 'r',
    member: 'referenceRanges',
    within: { column: 'component', ...(position === undefined ? {} : { position }) },
    // R4 invariant obs-3.
    refusal: (range) =>
      range.has('low') || range.has('high') || range.has('text')
        ? undefined
        : 'has no low, no high and no text',
    isShown: ({ lowNumber, highNumber, text }) => (lowNumber ?? highNumber ?? text) !== undefined,
    elements: {
      low: bound('low'),
      high: bound('high'),
      type: concept('type'),
      appliesTo: concepts('applies_to'),
      age: exact('age', rangeInUcum),
      text: string('text'),
    },
    notKept: {},
  });
}

const COMPONENTS = list('Observation.component', {
  table: 'observation_component',
  parent: 'observation_id',
  alias: 'c',
  member: 'components',
  elements: {
    code: required(mappedConcept('code')),
    'value[x]': value(),
    dataAbsentReason: absentReason(({ valueType }: Meaning) => valueType !== undefined),
    interpretation: mappedConcepts('interpretation'),
    referenceRange: referenceRanges(),
  },
  notKept: {},
});

/**
 * Extensions that say part of a result, which nobody should read without: docs/fhir-mapping.md names each with its reason.
 * Genetics and workflow are left out: they refer to resources that are not taken.
 */
const KEPT_EXTENSIONS: ReadonlyMap<string, ExtensionType> = new Map([
  ...['bodyPosition', 'delta', 'deviceCode', 'focusCode', 'secondaryFinding', 'specimenCode'].map(
    (name) => [`http://hl7.org/fhir/StructureDefinition/observation-${name}`, 'CodeableConcept'] as const,
  ),
  ['http://hl7.org/fhir/StructureDefinition/event-statusReason', 'CodeableConcept'],
  // The minimum inhibitory concentration of a susceptibility test, in the versions of MIMIC-IV on FHIR.
  ['http://mimic.mit.edu/fhir/mimic/StructureDefinition/dilution-details', 'Quantity'],
  ['http://mimic.mit.edu/fhir/StructureDefinition/dilution-details', 'Quantity'],
  ['http://fhir.mimic.mit.edu/StructureDefinition/dilution-details', 'Quantity'],
  ['http://mimic.mit.edu/fhir/mimic/StructureDefinition/lab-priority', 'String'],
]);

export const OBSERVATION = describeResource('Observation', {
  table: 'observation',
  reach: 'facility',
  elements: {
    /** The order that it is a result of. */
    orderId: grouped('order_id'),
    subject: subject(),
    encounter: referenceColumns('Encounter', 'encounter_id', 'encounter_display'),
    kind: derived('kind', 'text', kindOf),
    vitalSign: onlyStored('vital_sign', 'boolean', countsAsVitalSign),
    status: required(code('status', STATUSES)),
    identifier: identifiers(),
    basedOn: basedOnOrder(),
    partOf: references('part_of', ['ImagingStudy']),
    focus: references('focus', ['Patient', 'Observation', 'Encounter', 'Practitioner', 'Location']),
    category: categories(mappedConcepts, ({ kind }: { kind: ObservationKind }) =>
      kind === 'laboratory' ? LABORATORY : undefined,
    ),
    code: required(mappedConcept('code')),
    'effective[x]': effective(['dateTime', 'Period', 'Timing', 'Instant']),
    issued: moment('issued', ['issued_source', 'issued_at'], 'time'),
    performer: references('performer', ACTORS),
    'value[x]': value(),
    dataAbsentReason: absentReason(hasMeaning),
    interpretation: mappedConcepts('interpretation'),
    note: notes('note'),
    bodySite: concept('body_site'),
    method: concept('method'),
    specimen: reference('specimen', ['Specimen']),
    device: reference('device', []),
    hasMember: references('has_member', ['Observation'], {
      all: 'has_member_ids',
      table: { name: 'observation_member', parent: 'observation_id', id: 'member_id' },
    }),
    derivedFrom: references('derived_from', ['Observation', 'ImagingStudy']),
    component: { ...COMPONENTS, derive: refuseDoubledValue },
    referenceRange: referenceRanges(-1),
    extension: extensions(KEPT_EXTENSIONS),
  },
  notKept: {},
});

export interface ObservationRecord extends RecordOf<typeof OBSERVATION> {}

/** Members of an Observation that {@link joinPressures} goes by. */
const JOINED_BY: ReadonlySet<string> = new Set([
  ...['id', 'orderId', 'status', 'code', 'bodySite', 'method', 'device', 'specimen', 'hasMember'],
  ...['focus', 'extension'],
  ...['effectiveType', 'effectiveStart', 'effectiveEnd', 'effectiveTiming'],
]);
export const PRESSURE_FIELDS = (alias: string) =>
  OBSERVATION.fields(alias).filter(({ name }) => JOINED_BY.has(name));

/** How many of these, read by {@link PRESSURE_FIELDS}, go out as part of another one of their vital set. */
export function joinedAway(records: readonly ObservationRecord[], context: EmitContext): number {
  const members = records.map((record) => ({
    resource: resourceObject(OBSERVATION, record, context),
    inOrder: record.orderId !== undefined,
  }));
  return members.length - joinPressures(members).length;
}

/**
 * A value of the whole and one of a component with its code, or with the code that its profile adds: nothing says which of
 * them counts (R4 invariant obs-7).
 */
function refuseDoubledValue({ values, children, reader }: Found): Read {
  if (values.value_type === undefined) return NOTHING;
  const { coding: own = [] } = withProfileCode(values.code as CodeableConcept);
  const isOwn = ({ system, code }: Coding) =>
    code !== undefined && own.some((one) => one.system === system && one.code === code);
  const isDoubled = children.observation_component?.some(({ code }) =>
    (code as CodeableConcept).coding?.some(isOwn),
  );
  if (isDoubled) reader.fail('value[x]', BESIDE_A_COMPONENT);
  return NOTHING;
}

const BESIDE_A_COMPONENT =
  'is there beside a component with the code of the Observation, which FHIR R4 forbids (invariant obs-7). Send the value once';

interface Meaning {
  valueType?: ValueType;
  components?: readonly unknown[];
  hasMember?: readonly unknown[];
}

function hasMeaning({ valueType, components, hasMember }: Meaning): boolean {
  return valueType !== undefined || components !== undefined || hasMember !== undefined;
}

/** R4 names obs-6 at the `dataAbsentReason` of a component too, and calls both the reason why a value is missing. */
const BESIDE_A_VALUE =
  'is there beside a value, which FHIR R4 forbids (invariant obs-6). Send one of them, the value or the reason';

/**
 * Only where there is no value (R4 invariant obs-6). Where the source gave neither, the value is `unknown`, unless
 * the observation means something without one.
 */
function absentReason(
  isMeaningful: (record: Meaning) => boolean,
): Element<{ dataAbsentReason?: CodeableConcept } & Meaning> {
  const kept = mappedConcept('data_absent_reason');
  return {
    ...kept,
    read(reader, name, context) {
      if (reader.has(name) && reader.choice('value') !== undefined) reader.fail(name, BESIDE_A_VALUE);
      return kept.read(reader, name, context);
    },
    write(output, name, record, context) {
      if (record.valueType !== undefined) return;
      if (record.dataAbsentReason !== undefined) kept.write(output, name, record, context);
      else if (!isMeaningful(record)) output.json(name, UNKNOWN);
    },
  };
}

/**
 * What it is, by its category. Without one: a vital sign by its LOINC code, else a laboratory result when it
 * carries what laboratories give (a specimen, a reference range, an interpretation).
 */
function kindOf({ values, reader }: Found): ObservationKind {
  if (inCategory(values.category, 'vital-signs')) return 'vital-sign';
  if (inCategory(values.category, 'laboratory')) return 'laboratory';
  if (inCategory(values.category, 'imaging')) return 'imaging';
  if (values.category !== undefined) return 'other';
  if (hasVitalSignCode(values.code as CodeableConcept)) return 'vital-sign';
  const reported = reader.has('specimen') || reader.has('referenceRange') || reader.has('interpretation');
  return reported ? 'laboratory' : 'other';
}

/** By its category or by its code; a laboratory result may be one too. A body mass index without a value is none. */
function countsAsVitalSign({ values }: Found): boolean {
  const concept = values.code as CodeableConcept;
  const isOne = inCategory(values.category, 'vital-signs') || hasVitalSignCode(concept);
  return isOne && !lacksRequiredValue(concept, measuredIn(values));
}

/** True for what is sent as a vital sign and has a value, of its own or in a component, whose unit does not fit. */
export function hasUnfitUnit({ values, children }: RecordRow): boolean {
  if (!hasVitalSignCode(values.code as CodeableConcept)) return false;
  return [values, ...(children.observation_component ?? [])].some((one) => {
    const quantity = measuredIn(one);
    return quantity !== undefined && isInUnfitUnit(one.code as CodeableConcept, quantity);
  });
}

/** The quantity that was read. */
function measuredIn(values: Values): Quantity | undefined {
  if (values.value_type !== 'Quantity') return undefined;
  const { value_number: value, value_unit: unit, value_unit_system: system, value_unit_code: code } = values;
  return { value, unit, system, code } as Quantity;
}

/** True for one of these `observation-category` codes among the categories of an observation. */
export function inCategory(category: unknown, name: string): boolean {
  const codings = ((category ?? []) as CodeableConcept[]).flatMap(({ coding }) => coding ?? []);
  return codings.some(({ system, code }) => system === OBSERVATION_CATEGORY && code === name);
}

/**
 * Values of clinical records as columns: quantities, ranges, times, notes and pointers
 * (https://hl7.org/fhir/R4/datatypes.html).
 */

import type {
  Annotation,
  Quantity,
  Range,
  Ratio,
  RecordPointer,
  SampledData,
  Timing,
} from '../../../clinical/observations/observation.ts';
import type { CodeableConcept } from '../../../fhir/coded.ts';
import type { FhirDateTime } from '../../../fhir/date-time.ts';
import {
  codeableConcept,
  compact,
  list,
  optional,
  period,
  periodBounds,
} from '../../../fhir/reading/datatypes.ts';
import type { ElementReader } from '../../../fhir/reading/element-reader.ts';
import type { Column } from '../write/record-table.ts';
import type { MapContext, ReferenceValue } from './resource-importer.ts';

/** Record types that a person or organisation in a record may be. */
export const ACTORS = ['Practitioner', 'Organization', 'Patient'] as const;

const COMPARATORS = ['<', '<=', '>=', '>'] as const;
/**
 * Digits of a decimal at most: what a double can be (1e308), so that every reader of JSON can take the number, and
 * little enough for exact arithmetic. HL7's example of decimals has 264.
 */
const DIGITS_MAX = 300;
/** Characters of a unit at most. */
const UNIT_MAX = 200;
const TIME = /^([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?$/;

export const VALUE_COLUMNS: readonly Column[] = [
  ['value_type', 'text'],
  ['value_number', 'numeric'],
  ['value_comparator', 'text'],
  ['value_unit', 'text'],
  ['value_unit_system', 'text'],
  ['value_unit_code', 'text'],
  ['value_text', 'text'],
  ['value_concept', 'jsonb'],
  ['value_structure', 'jsonb'],
];

export function quantity(reader: ElementReader): Quantity | undefined {
  return compact<Quantity>({
    value: reader.decimal('value', DIGITS_MAX),
    comparator: reader.code('comparator', COMPARATORS),
    unit: reader.string('unit', UNIT_MAX),
    system: reader.uri('system'),
    code: reader.code('code'),
  });
}

export function range(reader: ElementReader): Range | undefined {
  return compact<Range>({
    low: optional(reader.child('low'), quantity),
    high: optional(reader.child('high'), quantity),
  });
}

/** `value[x]` of an Observation or of a component, as the values of {@link VALUE_COLUMNS}. */
export function valueColumns(reader: ElementReader): Record<string, unknown> {
  const name = reader.choice('value');
  const type = name?.slice('value'.length);
  if (name === undefined || type === undefined) return {};
  return { value_type: storedType(type), ...valueParts(reader, name, type) };
}

/** FHIR types as the column names them: primitives in lower case. */
function storedType(type: string): string {
  const primitives: Readonly<Record<string, string>> = {
    String: 'string',
    Boolean: 'boolean',
    Integer: 'integer',
    Time: 'time',
    DateTime: 'dateTime',
  };
  return primitives[type] ?? type;
}

function valueParts(reader: ElementReader, name: string, type: string): Record<string, unknown> {
  switch (type) {
    case 'Quantity':
      return quantityColumns('value', read(reader, name, quantity), reader, name);
    case 'CodeableConcept':
      return { value_concept: read(reader, name, codeableConcept) };
    case 'String':
      return { value_text: reader.string(name) };
    case 'Boolean':
      return { value_text: String(reader.boolean(name)) };
    case 'Integer':
      return { value_number: reader.integer(name) };
    case 'Time':
      return { value_text: time(reader, name) };
    case 'DateTime':
      return { value_text: reader.dateTime(name)?.text };
    case 'Range':
      return { value_structure: read(reader, name, range) };
    case 'Ratio':
      return { value_structure: read(reader, name, ratio) };
    case 'SampledData':
      return { value_structure: read(reader, name, sampledData) };
    case 'Period':
      return { value_structure: read(reader, name, period) };
    default:
      return reader.fail(name, 'is of a type that an Observation cannot have');
  }
}

/** A quantity in columns that start with `prefix`. One without a number has nothing to measure. */
function quantityColumns(
  prefix: string,
  value: Quantity,
  parent: ElementReader,
  name: string,
): Record<string, unknown> {
  if (value.value === undefined) parent.fail(`${name}.value`, 'is missing');
  return {
    [`${prefix}_number`]: value.value,
    [`${prefix}_comparator`]: value.comparator,
    [`${prefix}_unit`]: value.unit,
    [`${prefix}_unit_system`]: value.system,
    [`${prefix}_unit_code`]: value.code,
  };
}

/** A reference range's `low` or `high` (a SimpleQuantity: no comparator), in columns. */
export function boundColumns(reader: ElementReader, name: 'low' | 'high'): Record<string, unknown> {
  const bound = optional(reader.child(name), quantity);
  return {
    [`${name}_number`]: bound?.value,
    [`${name}_unit`]: bound?.unit,
    [`${name}_unit_system`]: bound?.system,
    [`${name}_unit_code`]: bound?.code,
  };
}

function read<T>(reader: ElementReader, name: string, parse: (reader: ElementReader) => T | undefined): T {
  const value = optional(reader.child(name), parse);
  return value === undefined ? reader.fail(name, 'has nothing in it that is known') : value;
}

function ratio(reader: ElementReader): Ratio | undefined {
  return compact<Ratio>({
    numerator: optional(reader.child('numerator'), quantity),
    denominator: optional(reader.child('denominator'), quantity),
  });
}

function sampledData(reader: ElementReader): SampledData | undefined {
  return compact<SampledData>({
    origin: reader.required('origin', optional(reader.child('origin'), quantity)),
    period: reader.required('period', reader.decimal('period', DIGITS_MAX)),
    factor: reader.decimal('factor', DIGITS_MAX),
    lowerLimit: reader.decimal('lowerLimit', DIGITS_MAX),
    upperLimit: reader.decimal('upperLimit', DIGITS_MAX),
    dimensions: reader.required('dimensions', reader.integer('dimensions', 1)),
    data: reader.string('data'),
  });
}

function time(reader: ElementReader, name: string): string | undefined {
  const text = reader.string(name);
  if (text !== undefined && !TIME.test(text)) reader.fail(name, 'is not a FHIR time');
  return text;
}

/** FHIR Timing; elements of `repeat` are kept one by one. */
export function timing(reader: ElementReader): Timing | undefined {
  return compact<Timing>({
    event: reader.strings('event'),
    repeat: optional(reader.child('repeat'), repeat),
    code: optional(reader.child('code'), codeableConcept),
  });
}

function repeat(reader: ElementReader): Record<string, unknown> | undefined {
  return compact<Record<string, unknown>>({
    boundsDuration: optional(reader.child('boundsDuration'), quantity),
    boundsRange: optional(reader.child('boundsRange'), range),
    boundsPeriod: optional(reader.child('boundsPeriod'), period),
    count: reader.integer('count', 1),
    countMax: reader.integer('countMax', 1),
    duration: reader.decimal('duration', DIGITS_MAX),
    durationMax: reader.decimal('durationMax', DIGITS_MAX),
    durationUnit: reader.code('durationUnit'),
    frequency: reader.integer('frequency', 1),
    frequencyMax: reader.integer('frequencyMax', 1),
    period: reader.decimal('period', DIGITS_MAX),
    periodMax: reader.decimal('periodMax', DIGITS_MAX),
    periodUnit: reader.code('periodUnit'),
    dayOfWeek: reader.strings('dayOfWeek'),
    timeOfDay: reader.strings('timeOfDay'),
    when: reader.strings('when'),
    offset: reader.integer('offset', 0),
  });
}

/** A pointer at what a reference names; undefined when nothing of it is left. */
export function pointer(value: ReferenceValue | undefined): RecordPointer | undefined {
  if (value === undefined) return undefined;
  return compact<RecordPointer>({
    type: value.target?.type,
    id: value.target?.id,
    display: value.display,
  });
}

export function pointers(values: readonly ReferenceValue[]): RecordPointer[] | undefined {
  return list(values.map(pointer));
}

export function concepts(readers: readonly ElementReader[]): CodeableConcept[] | undefined {
  return list(readers.map(codeableConcept));
}

export function notes(parent: ElementReader, context: MapContext): Annotation[] | undefined {
  return list(parent.children('note').map((reader) => annotation(reader, context)));
}

function annotation(reader: ElementReader, context: MapContext): Annotation | undefined {
  return compact<Annotation>({
    authorReference: pointer(context.reference(reader, 'authorReference', ACTORS)),
    authorString: reader.string('authorString'),
    time: reader.dateTime('time')?.text,
    text: reader.required('text', reader.string('text')),
  });
}

/** When something was true, as written and as the instant at which it began. */
export interface EffectiveTime {
  effective_type?: string;
  effective_start?: string | undefined;
  effective_end?: string | undefined;
  effective_timing?: Timing | undefined;
  /** ISO 8601 UTC. */
  effective_at?: string | undefined;
}

/** `effective[x]`; dates without a time begin at midnight in the facility's zone. */
export function effectiveTime(
  reader: ElementReader,
  timeZone: string,
  types: readonly string[],
): EffectiveTime {
  const name = reader.choice('effective');
  if (name === undefined) return {};
  const type = name.slice('effective'.length);
  if (!types.includes(type)) reader.fail(name, 'is of a type that this resource cannot have');
  if (type === 'Period') {
    const bounds = reader.child(name);
    const { start, end } = bounds === undefined ? {} : periodBounds(bounds, timeZone);
    if (start === undefined && end === undefined) reader.fail(name, 'has neither start nor end');
    return {
      effective_type: 'Period',
      effective_start: start?.text,
      effective_end: end?.text,
      effective_at: instant(start ?? end, timeZone),
    };
  }
  if (type === 'Timing') {
    const value = read(reader, name, timing);
    return { effective_type: 'Timing', effective_timing: value };
  }
  const at = type === 'Instant' ? reader.dateTime(name, 'time') : reader.dateTime(name);
  return {
    effective_type: type === 'Instant' ? 'Instant' : 'dateTime',
    effective_start: at?.text,
    effective_at: instant(at, timeZone),
  };
}

/** The instant at which a date or time begins, in ISO 8601 UTC. */
export function instant(at: FhirDateTime | undefined, timeZone: string): string | undefined {
  return at?.span(timeZone).start.toISOString();
}

/** Bounds of `encounter`: the visit here, or what it was called. */
export function encounterColumns(reader: ElementReader, context: MapContext): Record<string, unknown> {
  const encounter = context.reference(reader, 'encounter', ['Encounter']);
  return { encounter_id: encounter?.target?.id, encounter_display: encounter?.display };
}

/** Id of the first of these that is a record here. */
export function firstTarget(values: readonly ReferenceValue[]): string | undefined {
  return values.find(({ target }) => target !== undefined)?.target?.id;
}

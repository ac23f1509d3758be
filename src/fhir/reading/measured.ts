/** Readers of what is measured, and when (https://hl7.org/fhir/R4/datatypes.html). */
import type { Quantity, Range, Ratio, SampledData, Timing } from '../measured.ts';
import { codeableConcept, compact, optional, period } from './datatypes.ts';
import type { ElementReader } from './element-reader.ts';

const COMPARATORS = ['<', '<=', '>=', '>'] as const;
/**
 * Digits of a decimal at most: what a double can be (1e308), so that every reader of JSON can take the number, and
 * little enough for exact arithmetic. HL7's example of decimals has 264.
 */
const DIGITS_MAX = 300;
/** Characters of a unit at most. */
const UNIT_MAX = 200;

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

export function ratio(reader: ElementReader): Ratio | undefined {
  return compact<Ratio>({
    numerator: optional(reader.child('numerator'), quantity),
    denominator: optional(reader.child('denominator'), quantity),
  });
}

export function sampledData(reader: ElementReader): SampledData | undefined {
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

/** A data type of which something must be known. */
export function known<T>(
  reader: ElementReader,
  name: string,
  parse: (reader: ElementReader) => T | undefined,
): T {
  const value = optional(reader.child(name), parse);
  return value === undefined ? reader.fail(name, 'contains no known element') : value;
}

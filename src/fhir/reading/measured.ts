/** Readers of what is measured (https://hl7.org/fhir/R4/datatypes.html). Contract: HTTP-30. */
import { decimalText } from '../json.ts';
import type { Quantity, Range, Ratio, SampledData } from '../measured.ts';
import { compact, optional } from './datatypes.ts';
import type { ElementReader } from './element-reader.ts';

const COMPARATORS = ['<', '<=', '>=', '>'] as const;
/**
 * Digits of a decimal at most: what a double can be (1e308), so that every reader of JSON can take the number, and
 * little enough for exact arithmetic. HL7's example of decimals has 264.
 */
export const DIGITS_MAX = 300;
/** Characters of a unit at most. */
const UNIT_MAX = 200;
const UCUM = 'http://unitsofmeasure.org';
/** UCUM codes of time, and how people write the common ones in English. */
const UNIT_OF_TIME = /^(?:[munp]?s|min|h|d|wk|mo(?:_[sjg])?|a(?:_[tjg])?)$/;
const WORDS_OF_TIME: ReadonlyMap<string, string> = new Map(
  Object.entries({ second: 's', minute: 'min', hour: 'h', day: 'd', week: 'wk', month: 'mo', year: 'a' }),
);

/** As it was given: its code may lack a system. Whoever writes it gives the unit one, or takes the code for its text. */
export function quantityAsGiven(reader: ElementReader): Quantity | undefined {
  return compact<Quantity>({
    value: reader.decimal('value', DIGITS_MAX),
    comparator: reader.code('comparator', COMPARATORS),
    unit: reader.string('unit', UNIT_MAX),
    system: reader.uri('system'),
    code: reader.code('code'),
  });
}

/**
 * A Quantity that is written as it is kept. A code without a system is no code (R4 invariant qty-3): it is the text of the
 * unit, and is not kept beside one.
 */
export function quantity(reader: ElementReader): Quantity | undefined {
  if (reader.has('system') || !reader.has('code')) return quantityAsGiven(reader);
  return compact<Quantity>({
    value: reader.decimal('value', DIGITS_MAX),
    comparator: reader.code('comparator', COMPARATORS),
    unit: reader.string('unit', UNIT_MAX) ?? reader.string('code', UNIT_MAX),
  });
}

/**
 * A Duration has the UCUM code of a unit of time beside its value, and no other code (R4 invariant drt-1). Another unit is
 * text, and a code of another system is not kept.
 */
export function duration(reader: ElementReader): Quantity | undefined {
  const value = reader.decimal('value', DIGITS_MAX);
  const comparator = reader.code('comparator', COMPARATORS);
  const unit = reader.string('unit', UNIT_MAX);
  const system = reader.uri('system');
  // Without a system it is text, as in a Quantity.
  const written = system === undefined ? reader.string('code', UNIT_MAX) : undefined;
  const given = system === UCUM ? reader.code('code') : written;
  // Of a code and a unit that say different things nobody knows which is right.
  const code = value === undefined ? undefined : unitOfTime(given ?? unit);
  if (code === undefined) return compact<Quantity>({ value, comparator, unit: unit ?? given });
  return compact<Quantity>({ value, comparator, unit, system: UCUM, code });
}

function unitOfTime(text = ''): string | undefined {
  return UNIT_OF_TIME.test(text) ? text : WORDS_OF_TIME.get(text.toLowerCase().replace(/s$/, ''));
}

/** A SimpleQuantity has no comparator (R4 invariant sqty-1): without it the number would say something else. */
export function simpleQuantity(reader: ElementReader): Quantity | undefined {
  if (reader.has('comparator')) reader.fail('comparator', 'is not allowed here (R4 invariant sqty-1)');
  return quantity(reader);
}

export function range(reader: ElementReader): Range | undefined {
  const low = optional(reader.child('low'), simpleQuantity);
  const high = optional(reader.child('high'), simpleQuantity);
  return boundsInOrder(reader, compact<Range>({ low, high }));
}

/** The range, unless it begins above its end. To be asked again after its units were set: two may have become one. */
export function boundsInOrder<Bounds extends Range | undefined>(
  reader: ElementReader,
  bounds: Bounds,
): Bounds {
  const { low, high } = bounds ?? {};
  if (low !== undefined && high !== undefined && isGreater(low, high))
    reader.fail('low', 'is greater than high (R4 invariant rng-2)');
  return bounds;
}

/** Of two quantities in one unit; of others nobody can tell. */
function isGreater(a: Quantity, b: Quantity): boolean {
  if (a.unit !== b.unit || a.system !== b.system || a.code !== b.code) return false;
  return Number(decimalText(a.value)) > Number(decimalText(b.value));
}

/** R4 invariant rat-1: both or none. */
export function ratio(reader: ElementReader): Ratio | undefined {
  const numerator = optional(reader.child('numerator'), quantity);
  const denominator = optional(reader.child('denominator'), quantity);
  if (numerator === undefined && denominator === undefined) return undefined;
  return {
    numerator: reader.required('numerator', numerator),
    denominator: reader.required('denominator', denominator),
  };
}

export function sampledData(reader: ElementReader): SampledData | undefined {
  return compact<SampledData>({
    origin: reader.required('origin', optional(reader.child('origin'), simpleQuantity)),
    period: reader.required('period', reader.decimal('period', DIGITS_MAX)),
    factor: reader.decimal('factor', DIGITS_MAX),
    lowerLimit: reader.decimal('lowerLimit', DIGITS_MAX),
    upperLimit: reader.decimal('upperLimit', DIGITS_MAX),
    dimensions: reader.required('dimensions', reader.integer('dimensions', 1)),
    data: reader.string('data'),
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

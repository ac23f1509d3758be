/**
 * Values and reference ranges of observations (https://hl7.org/fhir/R4/observation.html). Pure.
 * Contract: IN-47, IN-48, TERM-21.
 */
import type { CodeableConcept, Period } from '../../fhir/coded.ts';
import { isTime } from '../../fhir/date-time.ts';
import { Decimal } from '../../fhir/json.ts';
import type { Numeric, Quantity, Range, Ratio, SampledData } from '../../fhir/measured.ts';
import { codeableConcept, compact, optional, period } from '../../fhir/reading/datatypes.ts';
import type { ElementReader } from '../../fhir/reading/element-reader.ts';
import {
  boundsInOrder,
  known,
  quantityAsGiven,
  range,
  ratio,
  sampledData,
} from '../../fhir/reading/measured.ts';
import { normaliseUnit, type QuantityUnit } from '../../terminology/units/ucum.ts';
import { unitsDisagree } from '../../terminology/units/vital-units.ts';
import { columns, exactJson, numbers } from '../content/document.ts';
import type { Element, Member, Values } from '../description/element.ts';

export type ValueType =
  | 'Quantity'
  | 'CodeableConcept'
  | 'string'
  | 'boolean'
  | 'integer'
  | 'Range'
  | 'Ratio'
  | 'SampledData'
  | 'time'
  | 'dateTime'
  | 'Period';

/** A value in the columns that hold it: which of them are there depends on `valueType`. */
export interface ObservedValue {
  valueType?: ValueType;
  /** Quantity, integer. */
  valueNumber?: Numeric;
  valueComparator?: string;
  valueUnit?: string;
  valueUnitSystem?: string;
  valueUnitCode?: string;
  /** string, boolean (`true`, `false`), time, dateTime. */
  valueText?: string;
  valueConcept?: CodeableConcept;
  valueStructure?: Range | Ratio | SampledData | Period;
}

/** `value[x]` of an Observation or of a component. */
export function value(): Element<ObservedValue> {
  return {
    columns: [
      ['value_type', 'text'],
      ['value_number', 'numeric'],
      ['value_comparator', 'text'],
      ['value_unit', 'text'],
      ['value_unit_system', 'text'],
      ['value_unit_code', 'text'],
      ['value_text', 'text'],
      ['value_concept', 'jsonb'],
      ['value_structure', 'jsonb'],
    ],
    fields: ({ alias }) => [
      ...columns(alias, ['value_type']),
      ...numbers(alias, ['value_number']),
      ...columns(alias, [
        'value_comparator',
        'value_unit',
        'value_unit_system',
        'value_unit_code',
        'value_text',
        'value_concept',
      ]),
      ...exactJson(alias, ['value_structure']),
    ],
    read(reader, prefix) {
      const name = reader.choice(prefix);
      if (name === undefined) return { values: {} };
      const type = name.slice(prefix.length);
      if (type === 'String' && reader.string(name) === undefined) return { values: {} };
      return { values: { value_type: storedType(type), ...valueParts(reader, name, type) } };
    },
    write(output, name, record, context) {
      const { valueType, valueConcept } = record;
      switch (valueType) {
        case undefined:
          return;
        case 'Quantity':
          return output.json(`${name}Quantity`, valueQuantityOf(record));
        case 'CodeableConcept':
          return output.json(`${name}CodeableConcept`, valueConcept && context.translate(valueConcept));
        case 'integer':
          return output.value(`${name}Integer`, record.valueNumber);
        case 'boolean':
          return output.value(`${name}Boolean`, record.valueText === 'true');
        case 'string': {
          const compared = comparedQuantity(record.valueText ?? '');
          if (compared !== undefined) return output.json(`${name}Quantity`, compared);
          return output.value(`${name}String`, record.valueText);
        }
        case 'time':
          return output.value(`${name}Time`, record.valueText);
        case 'dateTime':
          return output.value(`${name}DateTime`, record.valueText);
        default:
          return output.json(`${name}${valueType}`, record.valueStructure);
      }
    },
  };
}

type Bound<Name extends 'low' | 'high'> = Member<`${Name}_number`, Numeric> &
  Member<`${Name}_unit` | `${Name}_unit_system` | `${Name}_unit_code`, string>;

/**
 * A reference range's `low` or `high`: a SimpleQuantity, which has no comparator. Laboratories send some all the same. Such a
 * bound is not kept: without its comparator the number would say something else.
 */
export function bound<const Name extends 'low' | 'high'>(prefix: Name): Element<Bound<Name>> {
  const parts = [`${prefix}_unit`, `${prefix}_unit_system`, `${prefix}_unit_code`];
  return {
    columns: [[`${prefix}_number`, 'numeric'], ...parts.map((part) => [part, 'text'] as const)],
    fields: ({ alias }) => [...numbers(alias, [`${prefix}_number`]), ...columns(alias, parts)],
    read(reader, name) {
      const bound = reader.child(name);
      const given = bound?.has('comparator') ? undefined : optional(bound, quantityAsGiven);
      requireOneUnit(reader, name, given);
      const [unit = '', system = '', code = ''] = parts;
      return {
        values: {
          [`${prefix}_number`]: given?.value,
          [unit]: given?.unit,
          [system]: given?.system,
          [code]: given?.code,
        },
      };
    },
    write(output, name, record) {
      const members = record as Readonly<Record<string, string>>;
      const number = members[`${prefix}Number`] as Numeric | undefined;
      if (number === undefined) return;
      const unit = {
        unit: members[`${prefix}Unit`],
        system: members[`${prefix}UnitSystem`],
        code: members[`${prefix}UnitCode`],
      };
      output.json(name, quantity(number, unit));
    },
  };
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
      return quantityColumns(reader, name);
    case 'CodeableConcept':
      return { value_concept: known(reader, name, codeableConcept) };
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
      return { value_structure: known(reader, name, rangeInUcum) };
    case 'Ratio':
      return { value_structure: withUcum(known(reader, name, ratio)) };
    case 'SampledData':
      return { value_structure: withUcum(known(reader, name, sampledData)) };
    case 'Period':
      return { value_structure: known(reader, name, period) };
    default:
      return reader.fail(name, 'has a type that an Observation does not allow');
  }
}

/** A range that is a value, or the age that a reference range is for. */
export function rangeInUcum(reader: ElementReader): Range | undefined {
  const given = range(reader);
  return boundsInOrder(reader, given && withUcum(given));
}

const QUANTITIES: ReadonlySet<string> = new Set(['low', 'high', 'numerator', 'denominator', 'origin']);

/** With the units that a Quantity has: it goes out as it is kept, so they are set before it is kept. */
function withUcum<Structure extends object>(structure: Structure): Structure {
  const members = Object.entries(structure).map(([name, member]) => {
    return [name, QUANTITIES.has(name) ? inUcum(member as Quantity) : member];
  });
  return Object.fromEntries(members) as Structure;
}

/** With its UCUM code where it has one. One that has only a system stays as it is: FHIR has no empty objects. */
export function inUcum(given: Quantity): Quantity {
  const { value, comparator, ...unit } = given;
  return compact<Quantity>({ value, comparator, ...normaliseUnit(unit) }) ?? given;
}

/** A Quantity without a number measures nothing, so it is refused. */
function quantityColumns(reader: ElementReader, name: string): Values {
  const given = known(reader, name, quantityAsGiven);
  if (given.value === undefined) reader.fail(`${name}.value`, 'is missing');
  requireOneUnit(reader, name, given);
  return {
    value_number: given.value,
    value_comparator: given.comparator,
    value_unit: given.unit,
    value_unit_system: given.system,
    value_unit_code: given.code,
  };
}

/** A number under two units is a wrong number under one of them. */
function requireOneUnit(reader: ElementReader, name: string, given: Quantity | undefined): void {
  if (given !== undefined && unitsDisagree(given))
    reader.fail(`${name}.unit`, 'names another unit than the code beside it. Send the unit that was meant');
}

function time(reader: ElementReader, name: string): string | undefined {
  const text = reader.string(name);
  if (text !== undefined && !isTime(text)) reader.fail(name, 'is not a FHIR time');
  return text;
}

/** Nothing but a comparator and a decimal, of as many characters as a number may have digits. */
const COMPARED = /^(<=|<|>=|>)\s*(-?(?:0|[1-9]\d*)(?:\.\d+)?)$/;
const COMPARED_MAX = 300;

/**
 * What a string such as `<0.01` means: a quantity, with its digits. Its unit is not known, and none is invented. A string
 * that says anything else stays what it is.
 */
function comparedQuantity(text: string): Quantity | undefined {
  const [, comparator, digits] = (text.length <= COMPARED_MAX && COMPARED.exec(text.trim())) || [];
  return comparator === undefined || digits === undefined
    ? undefined
    : { value: new Decimal(digits), comparator };
}

/** The quantity in the columns of a value. */
export function valueQuantityOf(value: ObservedValue): Quantity {
  const { valueUnit: unit, valueUnitSystem: system, valueUnitCode: code } = value;
  return quantity(value.valueNumber, { unit, system, code }, value.valueComparator);
}

/** A Quantity with a code has a system (R4 invariant qty-3). Units are UCUM where they can be (docs/terminology.md). */
function quantity(value: Quantity['value'], given: QuantityUnit, comparator?: string): Quantity {
  return compact<Quantity>({ value, comparator, ...normaliseUnit(given) }) ?? {};
}

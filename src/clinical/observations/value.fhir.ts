/**
 * Values and reference ranges as FHIR R4 elements (https://hl7.org/fhir/R4/observation.html). Pure.
 * Contract: TERM-21.
 */
import { normaliseUnit } from '../../terminology/units/ucum.ts';
import type { EmitContext } from '../fetch/fhir-resource.ts';
import type { ObservedValue, Quantity, ReferenceRangeRecord } from './observation.ts';

/** `value[x]` as the one member that it is; empty when there is no value. */
export function valueElement(value: ObservedValue, context: EmitContext): Record<string, unknown> {
  switch (value.valueType) {
    case undefined:
      return {};
    case 'Quantity':
      return { valueQuantity: valueQuantityOf(value) };
    case 'CodeableConcept':
      return value.valueConcept === undefined
        ? {}
        : { valueCodeableConcept: context.translate(value.valueConcept) };
    case 'boolean':
      return { valueBoolean: value.valueText === 'true' };
    case 'integer':
      return { valueInteger: value.valueNumber };
    case 'string':
      return { valueString: value.valueText };
    case 'time':
      return { valueTime: value.valueText };
    case 'dateTime':
      return { valueDateTime: value.valueText };
    default:
      return { [`value${value.valueType}`]: value.valueStructure };
  }
}

/** The quantity in the columns of a value. `<5` is a comparator, never a string. */
export function valueQuantityOf(value: ObservedValue): Quantity {
  return quantity(value.valueNumber, value.valueUnit, value.valueUnitSystem, value.valueUnitCode, {
    comparator: value.valueComparator,
  });
}

/** `referenceRange`, which must have low, high or text (R4 invariant obs-3); undefined for none. */
export function referenceRangeElements(ranges: readonly ReferenceRangeRecord[] | undefined) {
  const list = ranges?.map(referenceRange).filter((range) => range.low ?? range.high ?? range.text);
  return list === undefined || list.length === 0 ? undefined : list;
}

function referenceRange(range: ReferenceRangeRecord) {
  const { type, appliesTo, age, text } = range;
  const low = bound(range.lowNumber, range.lowUnit, range.lowUnitSystem, range.lowUnitCode);
  const high = bound(range.highNumber, range.highUnit, range.highUnitSystem, range.highUnitCode);
  return { low, high, type, appliesTo, age, text };
}

function bound(
  value: Quantity['value'],
  unit: string | undefined,
  system: string | undefined,
  code: string | undefined,
): Quantity | undefined {
  return value === undefined ? undefined : quantity(value, unit, system, code);
}

/** A Quantity with a code has a system (R4 invariant qty-3). Units are UCUM where they can be (docs/terminology.md). */
function quantity(
  value: Quantity['value'],
  unit: string | undefined,
  system: string | undefined,
  code: string | undefined,
  { comparator }: { comparator?: string | undefined } = {},
): Quantity {
  const normal = normaliseUnit({ unit, system, code });
  return {
    ...(value === undefined ? {} : { value }),
    ...(comparator === undefined ? {} : { comparator }),
    ...(normal.unit === undefined ? {} : { unit: normal.unit }),
    ...(normal.system === undefined ? {} : { system: normal.system }),
    ...(normal.code === undefined ? {} : { code: normal.code }),
  };
}

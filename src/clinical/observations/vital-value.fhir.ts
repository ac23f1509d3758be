/**
 * The value of a vital sign whose R4 profile fixes its unit: a Quantity in one of its units, or a reason why
 * there is none (https://hl7.org/fhir/R4/observation-vitalsigns.html). What was reported is never lost. Pure.
 */
import type { CodeableConcept, Coding } from '../../fhir/coded.ts';
import { Decimal, decimalText } from '../../fhir/json.ts';
import type { Quantity } from '../../fhir/measured.ts';
import { DATA_ABSENT_REASON, LOINC, officialDisplay } from '../../terminology/lookup/code-systems.ts';
import { vitalQuantity } from '../../terminology/units/vital-units.ts';
import type { Annotation } from '../description/pointer.ts';

/** R4 core extension: the same quantity in another unit. */
const TRANSLATED_QUANTITY = 'http://hl7.org/fhir/StructureDefinition/iso21090-PQ-translation';

/** A value as the profile wants it: the elements to change, and what has to be said about it in words. */
export interface Measured {
  elements: Readonly<Record<string, unknown>>;
  notes: Annotation[];
}

export const AS_IT_IS: Measured = { elements: {}, notes: [] };

type Element = Readonly<Record<string, unknown>>;

/**
 * The value of `element`, which the profile of `loincCode` describes. It is a `valueQuantity` in a unit that the
 * profile allows, with the source's own beside it where it was converted. Anything else is no value: `dataAbsentReason`
 * says why, and a note keeps what was reported. `part` is the component that the note then names.
 */
export function measuredIn(loincCode: string, element: Element, part?: string): Measured {
  const name = valueName(element);
  if (name === undefined) return AS_IT_IS;
  const noted = (reason: CodeableConcept) => asNote(element, { reason, part });
  if (name !== 'valueQuantity') return noted(UNSUPPORTED);
  const source = element.valueQuantity as Quantity;
  const value = decimalText(source.value);
  if (value === undefined) return noted((element.dataAbsentReason as CodeableConcept) ?? UNKNOWN);
  const known = vitalQuantity(loincCode, { ...source, value });
  if (known === undefined) return AS_IT_IS;
  if ('fault' in known) return noted(UNSUPPORTED);
  const { converted, unit, system, code } = known;
  const comparator = source.comparator === undefined ? {} : { comparator: source.comparator };
  if (!converted)
    return {
      elements: { valueQuantity: { value: source.value, ...comparator, unit, system, code } },
      notes: [],
    };
  const extension = [{ url: TRANSLATED_QUANTITY, valueQuantity: source }];
  const translated = { extension, value: new Decimal(known.value), ...comparator, unit, system, code };
  return { elements: { valueQuantity: translated, ...rangesIn(source, element) }, notes: [] };
}

/** A bound without a unit is in that of the value (R4, "Observation.referenceRange"): it says so once the value has another. */
function rangesIn({ unit, system, code }: Quantity, { referenceRange }: Element): Element {
  if (referenceRange === undefined) return {};
  const inUnit = (bound: Quantity | undefined) =>
    bound === undefined || (bound.unit ?? bound.code) !== undefined
      ? bound
      : { ...bound, unit, system, code };
  const ranges = referenceRange as { low?: Quantity; high?: Quantity }[];
  return {
    referenceRange: ranges.map(({ low, high, ...rest }) => ({
      low: inUnit(low),
      high: inUnit(high),
      ...rest,
    })),
  };
}

/** Without its value, which becomes a note; `reason` is why, `part` names the component that it is of. */
export function asNote(
  element: Element,
  { reason, part }: { reason?: CodeableConcept; part?: string | undefined } = {},
): Measured {
  const name = valueName(element);
  if (name === undefined) return AS_IT_IS;
  const text = valueText(element[name]);
  return {
    elements: { [name]: undefined, ...(reason === undefined ? {} : { dataAbsentReason: reason }) },
    notes:
      text === ''
        ? []
        : [{ text: part === undefined ? `Reported as ${text}` : `${part}: reported as ${text}` }],
  };
}

/** A value in words: `<120 mm[Hg]`, the text of a code, what a string says. */
export function valueText(value: unknown): string {
  if (typeof value !== 'object' || value === null || value instanceof Decimal) return String(value ?? '');
  const { text, coding } = value as CodeableConcept;
  if (text !== undefined) return text;
  if (coding !== undefined) return coding.map(({ display, code }) => display ?? code ?? '').join(', ');
  const { comparator = '', value: number, unit, code } = value as Quantity;
  const digits = decimalText(number);
  const named = unit ?? code;
  if (digits === undefined && named === undefined) return JSON.stringify(value);
  return `${comparator}${digits ?? ''} ${named ?? ''}`.trim();
}

/** The LOINC codes of a concept. */
export function loincCodes({ coding = [] }: CodeableConcept): string[] {
  return coding.flatMap(({ system, code }) => (system === LOINC && code !== undefined ? [code] : []));
}

/** With its official display, where the service knows it. */
export function loincCoding(code: string): Coding {
  const display = officialDisplay(code);
  return { system: LOINC, code, ...(display === undefined ? {} : { display }) };
}

/** Which `value[x]` there is. */
export function valueName(element: Element): string | undefined {
  return Object.keys(element).find((name) => /^value[A-Z]/.test(name) && element[name] !== undefined);
}

export const UNKNOWN = absent('unknown', 'Unknown');
const UNSUPPORTED = absent('unsupported', 'Unsupported');

function absent(code: string, display: string): CodeableConcept {
  return { coding: [{ system: DATA_ABSENT_REASON, code, display }] };
}

/**
 * The R4 vital-signs profiles (https://hl7.org/fhir/R4/observation-vitalsigns.html): required codes, one
 * category, fixed units, blood pressure as one Observation with both components. Pure.
 */
import type { CodeableConcept } from '../fhir/coded.ts';
import { Decimal, decimalText } from '../fhir/json.ts';
import {
  DATA_ABSENT_REASON,
  LOINC,
  OBSERVATION_CATEGORY,
  officialDisplay,
} from '../terminology/code-systems.ts';
import { allowedVitalUnits, vitalQuantity } from '../terminology/vital-units.ts';
import type { FhirResource } from './fhir-resource.ts';
import type { Annotation, Quantity } from './observation.ts';

export const BLOOD_PRESSURE = '85354-9';
export const SYSTOLIC = '8480-6';
export const DIASTOLIC = '8462-4';
const OXYGEN_SATURATION = '2708-6';
const PULSE_OXIMETRY = '59408-5';
const BODY_MASS_INDEX = '39156-5';
/** R4 core extension: the same quantity in another unit. */
const TRANSLATED_QUANTITY = 'http://hl7.org/fhir/StructureDefinition/iso21090-PQ-translation';

/** LOINC codes that bring a vital-signs profile with them. */
const PROFILE_CODES: ReadonlySet<string> = new Set([
  '9279-1',
  '8867-4',
  OXYGEN_SATURATION,
  PULSE_OXIMETRY,
  '8310-5',
  '8302-2',
  '9843-4',
  '29463-7',
  BODY_MASS_INDEX,
  BLOOD_PRESSURE,
]);

interface Component extends Record<string, unknown> {
  code: CodeableConcept;
}

/** True where the category says so, or a LOINC code that has a vital-signs profile. */
export function isVitalSign(resource: FhirResource): boolean {
  const categories = resource.category as CodeableConcept[] | undefined;
  return (
    categories?.some(isVitalSignsCategory) === true || hasVitalSignCode(resource.code as CodeableConcept)
  );
}

/** True for a concept with a LOINC code that has a vital-signs profile. */
export function hasVitalSignCode(concept: CodeableConcept): boolean {
  return loincCodes(concept).some((code) => PROFILE_CODES.has(code));
}

/** True for the panel that holds systolic and diastolic pressure. */
export function isBloodPressure(concept: CodeableConcept): boolean {
  return loincCodes(concept).includes(BLOOD_PRESSURE);
}

/**
 * True for a body mass index without a number in its one unit. Its profile requires a value: no reason for its
 * absence can stand in for it (R4, profile "bmi").
 */
export function lacksRequiredValue(concept: CodeableConcept, quantity: Quantity | undefined): boolean {
  if (!loincCodes(concept).includes(BODY_MASS_INDEX)) return false;
  const value = decimalText(quantity?.value);
  if (value === undefined) return true;
  const known = vitalQuantity(BODY_MASS_INDEX, { ...quantity, value });
  return known === undefined || 'fault' in known;
}

export function isVitalSignsCategory(concept: CodeableConcept): boolean {
  return (
    concept.coding?.some(({ system, code }) => system === OBSERVATION_CATEGORY && code === 'vital-signs') ===
    true
  );
}

/** The Observation with what the profiles ask for. */
export function asVitalSign(resource: FhirResource): FhirResource {
  const code = withProfileCode(resource.code as CodeableConcept);
  const pressure = isBloodPressure(code);
  const measured = measuredIn(profileCode(code), resource);
  const parts = ((resource.component as Component[] | undefined) ?? []).map(componentInUnits);
  const components = parts.map(({ component }) => component);
  const notes = [...((resource.note as Annotation[] | undefined) ?? []), ...measured.notes];
  notes.push(...parts.flatMap((part) => part.notes));
  return {
    ...resource,
    category: oneVitalSignsCategory(resource.category as CodeableConcept[] | undefined),
    code,
    ...(pressure ? { valueQuantity: undefined } : measured.elements),
    note: notes.length === 0 ? undefined : notes,
    component: pressure ? bothPressures(components) : nonEmpty(components),
  };
}

/** Exactly one `vital-signs` category, first; the source's other categories are kept. */
function oneVitalSignsCategory(categories: readonly CodeableConcept[] = []): CodeableConcept[] {
  const own = categories.find(isVitalSignsCategory) ?? {
    coding: [{ system: OBSERVATION_CATEGORY, code: 'vital-signs', display: 'Vital Signs' }],
  };
  return [own, ...categories.filter((category) => !isVitalSignsCategory(category))];
}

/** Pulse oximetry alone lacks the code that the oxygen saturation profile fixes. */
function withProfileCode(concept: CodeableConcept): CodeableConcept {
  const codes = loincCodes(concept);
  if (!codes.includes(PULSE_OXIMETRY) || codes.includes(OXYGEN_SATURATION)) return concept;
  const display = officialDisplay(OXYGEN_SATURATION);
  const added = { system: LOINC, code: OXYGEN_SATURATION, ...(display === undefined ? {} : { display }) };
  return { ...concept, coding: [added, ...(concept.coding ?? [])] };
}

function bothPressures(components: readonly Component[]): Component[] {
  const missing = [SYSTOLIC, DIASTOLIC].filter(
    (code) => !components.some((component) => loincCodes(component.code).includes(code)),
  );
  return [...components, ...missing.map(absentPressure)];
}

function absentPressure(code: string): Component {
  const display = officialDisplay(code);
  const coding = { system: LOINC, code, ...(display === undefined ? {} : { display }) };
  return { code: { coding: [coding] }, dataAbsentReason: absent('unknown', 'Unknown') };
}

function componentInUnits(component: Component): { component: Component; notes: Annotation[] } {
  const { elements, notes } = measuredIn(profileCode(component.code), component);
  return { component: { ...component, ...elements }, notes };
}

/** A measured value as the profile wants it, and what has to be said about it in words. */
interface Measured {
  elements: { valueQuantity?: unknown; dataAbsentReason?: CodeableConcept };
  notes: Annotation[];
}

const AS_IT_IS: Measured = { elements: {}, notes: [] };

/**
 * `valueQuantity` in a unit that the profile allows, with the source's own beside it where it was converted.
 * A unit that cannot be one for this sign makes no value of it: the reason is given, and what was reported
 * is kept as a note.
 */
function measuredIn(loincCode: string | undefined, element: Readonly<Record<string, unknown>>): Measured {
  const source = element.valueQuantity as Quantity | undefined;
  const value = decimalText(source?.value);
  if (loincCode === undefined || source === undefined || value === undefined) return AS_IT_IS;
  const known = vitalQuantity(loincCode, { ...source, value });
  if (known === undefined) return AS_IT_IS;
  if ('fault' in known) return withoutUsableUnit(source, value);
  const { converted, unit, system, code } = known;
  const comparator = source.comparator === undefined ? {} : { comparator: source.comparator };
  if (!converted)
    return {
      elements: { valueQuantity: { value: source.value, ...comparator, unit, system, code } },
      notes: [],
    };
  const extension = [{ url: TRANSLATED_QUANTITY, valueQuantity: source }];
  const translated = { extension, value: new Decimal(known.value), ...comparator, unit, system, code };
  return { elements: { valueQuantity: translated }, notes: [] };
}

function withoutUsableUnit(source: Quantity, value: string): Measured {
  const reported = `${source.comparator ?? ''}${value} ${source.unit ?? source.code ?? ''}`.trim();
  return {
    elements: { valueQuantity: undefined, dataAbsentReason: absent('unsupported', 'Unsupported') },
    notes: [{ text: `Reported as ${reported}` }],
  };
}

function nonEmpty<T>(items: readonly T[]): readonly T[] | undefined {
  return items.length === 0 ? undefined : items;
}

function profileCode(concept: CodeableConcept): string | undefined {
  return loincCodes(concept).find((code) => allowedVitalUnits(code) !== undefined);
}

function loincCodes(concept: CodeableConcept): string[] {
  return (concept.coding ?? []).flatMap(({ system, code }) =>
    system === LOINC && code !== undefined ? [code] : [],
  );
}

function absent(code: string, display: string): CodeableConcept {
  return { coding: [{ system: DATA_ABSENT_REASON, code, display }] };
}

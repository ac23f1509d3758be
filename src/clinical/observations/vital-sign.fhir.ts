/**
 * The R4 vital-signs profiles (https://hl7.org/fhir/R4/observation-vitalsigns.html): required codes, one
 * category, fixed units, blood pressure as one Observation with both components. Pure.
 * Contract: FETCH-8, FETCH-9, FETCH-27, FETCH-28.
 */
import type { CodeableConcept } from '../../fhir/coded.ts';
import { decimalText } from '../../fhir/json.ts';
import type { Quantity } from '../../fhir/measured.ts';
import { LOINC, OBSERVATION_CATEGORY, officialDisplay } from '../../terminology/lookup/code-systems.ts';
import { allowedVitalUnits, vitalQuantity } from '../../terminology/units/vital-units.ts';
import type { Annotation } from '../description/pointer.ts';
import type { FhirResource } from '../fetch/fhir-resource.ts';
import {
  AS_IT_IS,
  asNote,
  type Measured,
  measuredIn,
  UNKNOWN,
  valueName,
  valueText,
} from './vital-value.fhir.ts';

export const BLOOD_PRESSURE = '85354-9';
export const SYSTOLIC = '8480-6';
export const DIASTOLIC = '8462-4';
const OXYGEN_SATURATION = '2708-6';
const PULSE_OXIMETRY = '59408-5';
const BODY_MASS_INDEX = '39156-5';

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

/** LOINC codes of the same vital signs, measured in a certain way, and the code that the profile fixes. */
const PROFILE_CODE_OF: ReadonlyMap<string, string> = new Map([
  [PULSE_OXIMETRY, OXYGEN_SATURATION],
  // Systolic and diastolic pressure together.
  ['55284-4', BLOOD_PRESSURE],
  // Oral, rectal, axillary and tympanic temperature.
  ['8331-1', '8310-5'],
  ['8332-9', '8310-5'],
  ['8328-7', '8310-5'],
  ['8333-7', '8310-5'],
  // Measured, not stated.
  ['3141-9', '29463-7'],
  ['3137-7', '8302-2'],
  // By tape measure.
  ['8287-5', '9843-4'],
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
function isBloodPressure(concept: CodeableConcept): boolean {
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
  const measured = pressure ? asNote(resource) : measuredBy(code, resource);
  const components = ((resource.component as Component[] | undefined) ?? []).map(componentInUnits);
  const parts = pressure ? bothPressures(components) : components;
  const notes = [
    ...((resource.note as Annotation[] | undefined) ?? []),
    ...measured.notes,
    ...parts.flatMap((part) => part.notes),
  ];
  const sign = {
    ...resource,
    category: oneVitalSignsCategory(resource.category as CodeableConcept[] | undefined),
    code,
    ...measured.elements,
    note: nonEmpty(notes),
    component: nonEmpty(parts.flatMap(({ component }) => component ?? [])),
  };
  return valueName(sign) === undefined ? { ...sign, code: withoutRequiredValue(code) } : sign;
}

function measuredBy(code: CodeableConcept, element: Readonly<Record<string, unknown>>): Measured {
  const loincCode = profileCode(code);
  return loincCode === undefined ? AS_IT_IS : measuredIn(loincCode, element);
}

/** Without the code whose profile requires a value: what is left is a vital sign by its category. */
function withoutRequiredValue(concept: CodeableConcept): CodeableConcept {
  if (!loincCodes(concept).includes(BODY_MASS_INDEX)) return concept;
  const others = concept.coding?.filter(({ code }) => code !== BODY_MASS_INDEX) ?? [];
  const text = concept.text ?? officialDisplay(BODY_MASS_INDEX) ?? BODY_MASS_INDEX;
  return { ...(others.length === 0 ? {} : { coding: others }), text };
}

/** Exactly one `vital-signs` category, first; the source's other categories are kept. */
function oneVitalSignsCategory(categories: readonly CodeableConcept[] = []): CodeableConcept[] {
  const own = categories.find(isVitalSignsCategory) ?? {
    coding: [{ system: OBSERVATION_CATEGORY, code: 'vital-signs', display: 'Vital Signs' }],
  };
  return [own, ...categories.filter((category) => !isVitalSignsCategory(category))];
}

/** A narrower code alone lacks the code that its profile fixes, which goes before it. */
function withProfileCode(concept: CodeableConcept): CodeableConcept {
  const codes = loincCodes(concept);
  const profile = codes.map((code) => PROFILE_CODE_OF.get(code)).find((code) => code !== undefined);
  if (profile === undefined || codes.includes(profile)) return concept;
  const display = officialDisplay(profile);
  const added = { system: LOINC, code: profile, ...(display === undefined ? {} : { display }) };
  return { ...concept, coding: [added, ...(concept.coding ?? [])] };
}

/** One part, or its notes alone. */
interface Part {
  component?: Component;
  notes: Annotation[];
}

function componentInUnits(component: Component): Part {
  const loincCode = profileCode(component.code);
  if (loincCode === undefined) return { component, notes: [] };
  const { elements, notes } = measuredIn(loincCode, component, officialDisplay(loincCode) ?? loincCode);
  return { component: { ...component, ...elements }, notes };
}

/** Systolic and diastolic pressure once each, and the other components; a second one of either is said in words. */
function bothPressures(parts: readonly Part[]): Part[] {
  const seen = new Set<string>();
  const once = parts.map((part): Part => {
    const codes = part.component === undefined ? [] : loincCodes(part.component.code);
    const pressure = PRESSURES.find((code) => codes.includes(code));
    if (pressure === undefined || part.component === undefined) return part;
    if (seen.has(pressure)) return alsoReported(pressure, part.component, part.notes);
    seen.add(pressure);
    return part;
  });
  return [...once, ...PRESSURES.filter((code) => !seen.has(code)).map(absentPressure)];
}

const PRESSURES = [SYSTOLIC, DIASTOLIC];

function alsoReported(code: string, component: Component, notes: Annotation[]): Part {
  const name = valueName(component);
  if (name === undefined) return { notes };
  const text = `Also reported: ${officialDisplay(code) ?? code} ${valueText(component[name])}`;
  return { notes: [...notes, { text }] };
}

function absentPressure(code: string): Part {
  const display = officialDisplay(code);
  const coding = { system: LOINC, code, ...(display === undefined ? {} : { display }) };
  return { component: { code: { coding: [coding] }, dataAbsentReason: UNKNOWN }, notes: [] };
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

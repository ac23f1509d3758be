/**
 * The R4 vital-signs profiles (https://hl7.org/fhir/R4/observation-vitalsigns.html): required codes, one
 * category, fixed units, blood pressure as one Observation with both components. Pure.
 * Contract: FETCH-8, FETCH-27, FETCH-28, FETCH-30.
 */
import type { CodeableConcept, Period } from '../../fhir/coded.ts';
import { saysDay } from '../../fhir/date-time.ts';
import { decimalText } from '../../fhir/json.ts';
import type { Quantity } from '../../fhir/measured.ts';
import { nonEmpty } from '../../fhir/reading/datatypes.ts';
import { LOINC, OBSERVATION_CATEGORY, officialDisplay } from '../../terminology/lookup/code-systems.ts';
import { allowedVitalUnits, vitalQuantity } from '../../terminology/units/vital-units.ts';
import type { Annotation } from '../description/pointer.ts';
import type { FhirResource } from '../fetch/fhir-resource.ts';
import {
  asPanel,
  BLOOD_PRESSURE,
  bothPressures,
  type Component,
  DIASTOLIC,
  isBloodPressure,
  NARROWER_PANELS,
  type Part,
  SYSTOLIC,
} from './blood-pressure.fhir.ts';
import {
  AS_IT_IS,
  asNote,
  loincCodes,
  loincCoding,
  type Measured,
  measuredIn,
  valueName,
  valueText,
} from './vital-value.fhir.ts';

const OXYGEN_SATURATION = '2708-6';
const PULSE_OXIMETRY = '59408-5';
const BODY_MASS_INDEX = '39156-5';
const VITAL_SIGNS_PANEL = '85353-1';

/** LOINC codes that bring a vital-signs profile with them. */
const PROFILE_CODES: ReadonlySet<string> = new Set([
  VITAL_SIGNS_PANEL,
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
  SYSTOLIC,
  DIASTOLIC,
]);

/** LOINC codes of the same vital signs, measured in a certain way, by the code that the profile fixes. */
const NARROWER: Readonly<Record<string, readonly string[]>> = {
  // By pulse oximetry, palpated, at rest, lying and sitting.
  '8867-4': ['8889-8', '8893-0', '40443-4', '68999-2', '69000-8'],
  [OXYGEN_SATURATION]: [PULSE_OXIMETRY],
  // Oral, rectal, axillary, tympanic, core, intravascular, of the bladder.
  '8310-5': ['8331-1', '8332-9', '8328-7', '8333-7', '8329-5', '8330-3', '8334-5'],
  // Measured, stated, lying and standing.
  '8302-2': ['3137-7', '3138-5', '8306-3', '8308-9'],
  // By tape measure.
  '9843-4': ['8287-5'],
  // Measured, stated, with and without clothes.
  '29463-7': ['3141-9', '3142-7', '8350-1', '8351-9'],
  // Systolic and diastolic pressure together.
  [BLOOD_PRESSURE]: NARROWER_PANELS,
};

const PROFILE_CODE_OF: ReadonlyMap<string, string> = new Map(
  Object.entries(NARROWER).flatMap(([profile, codes]) => codes.map((code) => [code, profile] as const)),
);

/** True for a LOINC code that has a vital-signs profile. A category alone makes no vital sign: scores have it too. */
export function isVitalSign(resource: FhirResource): boolean {
  return hasVitalSignCode(resource.code as CodeableConcept);
}

/** True for a concept with a LOINC code of the profiles, or one that says the same more narrowly. */
export function hasVitalSignCode(concept: CodeableConcept): boolean {
  return loincCodes(concept).some((code) => PROFILE_CODES.has(code) || PROFILE_CODE_OF.has(code));
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

/** True for a quantity whose unit, or lack of one, does not fit its vital sign: it goes out as a note, without a value. */
export function isInUnfitUnit(concept: CodeableConcept, quantity: Quantity): boolean {
  const [value, loincCode] = [decimalText(quantity.value), profileCode(withProfileCode(concept))];
  if (value === undefined || loincCode === undefined) return false;
  const known = vitalQuantity(loincCode, { ...quantity, value });
  return known !== undefined && 'fault' in known;
}

function isVitalSignsCategory(concept: CodeableConcept): boolean {
  return (
    concept.coding?.some(({ system, code }) => system === OBSERVATION_CATEGORY && code === 'vital-signs') ===
    true
  );
}

/** The Observation with what the profiles ask for. */
export function asVitalSign(given: FhirResource): FhirResource {
  const resource = atTime(asPanel(given));
  const code = withProfileCode(resource.code as CodeableConcept);
  const pressure = isBloodPressure(code);
  const isPanel = resource.hasMember !== undefined && loincCodes(code).includes(VITAL_SIGNS_PANEL);
  const measured = pressure || isPanel ? asNote(resource) : measuredBy(code, resource);
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
  const unmet = [
    ...(valueName(sign) === undefined ? [BODY_MASS_INDEX] : []),
    ...(resource.hasMember === undefined ? [VITAL_SIGNS_PANEL] : []),
  ];
  return { ...sign, code: unmet.reduce(withoutCode, code) };
}

/** An Observation without such a code, such as a score: the base profile is for it where its category is `vital-signs`. */
export function asOtherSign(given: FhirResource): FhirResource {
  const categories = (given.category as CodeableConcept[] | undefined) ?? [];
  const own = categories.find(isVitalSignsCategory);
  if (own === undefined) return given;
  const { effectiveInstant, ...resource } = given;
  return {
    ...(effectiveInstant === undefined ? {} : { effectiveDateTime: effectiveInstant }),
    ...resource,
    category: categories.filter((category) => category === own || !isVitalSignsCategory(category)),
  };
}

/**
 * The profiles allow a dateTime and a Period alone, to the day, and require one; an instant is a dateTime, too. That there is
 * none is said by an extension (https://hl7.org/fhir/R4/extension-data-absent-reason.html): a result of a laboratory may have
 * no time, or only a month. A note keeps what was reported.
 */
function atTime({ effectiveInstant, ...resource }: FhirResource): FhirResource {
  if (effectiveInstant !== undefined)
    return { effectiveDateTime: effectiveInstant, ...resource } as FhirResource;
  const { effectiveDateTime, effectivePeriod, effectiveTiming, ...timeless } = resource;
  if (saysDay(String(effectiveDateTime ?? (effectivePeriod as Period | undefined)?.start ?? '')))
    return resource as FhirResource;
  const given = effectiveDateTime ?? effectivePeriod ?? effectiveTiming;
  const { note = [] } = timeless as { note?: Annotation[] };
  const reported = given === undefined ? [] : [{ text: `Time reported as ${valueText(given)}` }];
  return {
    ...timeless,
    note: nonEmpty([...note, ...reported]),
    _effectiveDateTime: UNKNOWN_TIME,
  } as FhirResource;
}

const UNKNOWN_TIME = {
  extension: [{ url: 'http://hl7.org/fhir/StructureDefinition/data-absent-reason', valueCode: 'unknown' }],
};

function measuredBy(code: CodeableConcept, element: Readonly<Record<string, unknown>>): Measured {
  const loincCode = profileCode(code);
  return loincCode === undefined ? AS_IT_IS : measuredIn(loincCode, element);
}

/** The concept without a code whose profile asks for what is not there. By its category it still is a vital sign. */
function withoutCode(concept: CodeableConcept, without: string): CodeableConcept {
  if (!loincCodes(concept).includes(without)) return concept;
  const others = concept.coding?.filter(({ system, code }) => system !== LOINC || code !== without) ?? [];
  const text = concept.text ?? officialDisplay(without) ?? without;
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
export function withProfileCode(concept: CodeableConcept): CodeableConcept {
  const codes = loincCodes(concept);
  const profile = codes.map((code) => PROFILE_CODE_OF.get(code)).find((code) => code !== undefined);
  if (profile === undefined || codes.includes(profile)) return concept;
  return { ...concept, coding: [loincCoding(profile), ...(concept.coding ?? [])] };
}

function componentInUnits(component: Component): Part {
  const loincCode = profileCode(component.code);
  if (loincCode === undefined) return { component, notes: [] };
  const { elements, notes } = measuredIn(loincCode, component, officialDisplay(loincCode) ?? loincCode);
  return { component: { ...component, ...elements }, notes };
}

function profileCode(concept: CodeableConcept): string | undefined {
  return loincCodes(concept).find((code) => allowedVitalUnits(code) !== undefined);
}

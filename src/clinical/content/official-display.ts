/**
 * The official displays of codes that clinical records are full of: a code is sent with its official display, or
 * with none. Other codes keep the display of their source, which cannot be checked without their system's tables.
 */
import type { CodeableConcept, Coding } from '../../fhir/coded.ts';
import {
  DATA_ABSENT_REASON,
  LOINC,
  OBSERVATION_CATEGORY,
  officialDisplay,
  V2_DIAGNOSTIC_SERVICE,
} from '../../terminology/lookup/code-systems.ts';

const V3_OBSERVATION_INTERPRETATION = 'http://terminology.hl7.org/CodeSystem/v3-ObservationInterpretation';

/** From HL7's code systems, R4 (4.0.1). */
export const OFFICIAL_DISPLAYS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  [OBSERVATION_CATEGORY]: {
    'social-history': 'Social History',
    'vital-signs': 'Vital Signs',
    imaging: 'Imaging',
    laboratory: 'Laboratory',
    procedure: 'Procedure',
    survey: 'Survey',
    exam: 'Exam',
    therapy: 'Therapy',
    activity: 'Activity',
  },
  [V3_OBSERVATION_INTERPRETATION]: {
    N: 'Normal',
    H: 'High',
    L: 'Low',
    HH: 'Critical high',
    LL: 'Critical low',
    A: 'Abnormal',
    AA: 'Critical abnormal',
    POS: 'Positive',
    NEG: 'Negative',
    IND: 'Indeterminate',
    S: 'Susceptible',
    I: 'Intermediate',
    R: 'Resistant',
    U: 'Significant change up',
    D: 'Significant change down',
    B: 'Better',
    W: 'Worse',
  },
  [V2_DIAGNOSTIC_SERVICE]: {
    LAB: 'Laboratory',
    RAD: 'Radiology',
    CT: 'CAT Scan',
    MB: 'Microbiology',
    CH: 'Chemistry',
    HM: 'Hematology',
    SP: 'Surgical Pathology',
    CP: 'Cytopathology',
    GE: 'Genetics',
  },
  [DATA_ABSENT_REASON]: {
    unknown: 'Unknown',
    'asked-unknown': 'Asked But Unknown',
    'temp-unknown': 'Temporarily Unknown',
    'not-asked': 'Not Asked',
    'asked-declined': 'Asked But Declined',
    masked: 'Masked',
    'not-applicable': 'Not Applicable',
    unsupported: 'Unsupported',
    'as-text': 'As Text',
    error: 'Error',
    'not-performed': 'Not Performed',
    'not-permitted': 'Not Permitted',
  },
};

/** The concept with official displays where they are known and the source gave another; else as it is. */
export function officially<Concept extends CodeableConcept>(concept: Concept): Concept {
  if (concept.coding?.some(isUnofficial) !== true) return concept;
  return {
    ...concept,
    coding: concept.coding.map((coding) => (isUnofficial(coding) ? renamed(coding) : coding)),
  };
}

function isUnofficial(coding: Coding): boolean {
  if (coding.display === undefined) return false;
  const official = displayOf(coding);
  return official !== undefined && official !== coding.display;
}

function renamed(coding: Coding): Coding {
  const display = displayOf(coding);
  return display === undefined ? coding : { ...coding, display };
}

function displayOf({ system, code }: Coding): string | undefined {
  if (system === undefined || code === undefined) return undefined;
  if (system === LOINC) return officialDisplay(code);
  const table = Object.hasOwn(OFFICIAL_DISPLAYS, system) ? OFFICIAL_DISPLAYS[system] : undefined;
  return table !== undefined && Object.hasOwn(table, code) ? table[code] : undefined;
}

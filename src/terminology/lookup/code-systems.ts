/**
 * URIs of the standard code systems, and what can be known of a code without its system's tables.
 * Contract: TERM-1, TERM-6.
 */
import type { Words } from '../../platform/words/words.ts';

export const LOINC = 'http://loinc.org';
export const SNOMED_CT = 'http://snomed.info/sct';
export const UCUM = 'http://unitsofmeasure.org';
export const V2_DIAGNOSTIC_SERVICE = 'http://terminology.hl7.org/CodeSystem/v2-0074';
export const OBSERVATION_CATEGORY = 'http://terminology.hl7.org/CodeSystem/observation-category';
export const DATA_ABSENT_REASON = 'http://terminology.hl7.org/CodeSystem/data-absent-reason';
export const DICOM = 'http://dicom.nema.org/resources/ontology/DCM';

/** Systems outside HL7's own name space that are standard (R4, "Using Codes in resources", external systems). */
export const STANDARD_SYSTEMS: ReadonlySet<string> = new Set([
  LOINC,
  SNOMED_CT,
  UCUM,
  DICOM,
  'http://radlex.org',
  'http://www.ama-assn.org/go/cpt',
  'http://www.nlm.nih.gov/research/umls/rxnorm',
  'http://www.whocc.no/atc',
  'http://hl7.org/fhir/sid/icd-10',
  'http://hl7.org/fhir/sid/icd-10-cm',
  'http://hl7.org/fhir/sid/cvx',
  'http://nucc.org/provider-taxonomy',
]);

/** Of all systems of HL7. */
export const HL7_SYSTEM_PREFIX = 'http://terminology.hl7.org/CodeSystem/';

/** True for a system whose codes mean the same everywhere; every other system is local. */
export function isStandardSystem(system: string | undefined): boolean {
  if (system === undefined) return false;
  return STANDARD_SYSTEMS.has(system) || system.startsWith(HL7_SYSTEM_PREFIX);
}

/** Maps lead to LOINC and to HL7's own codes (interpretations, categories). They never start from one. */
export function mayStartMap({ system }: { system?: string }): boolean {
  return system !== LOINC && system?.startsWith(HL7_SYSTEM_PREFIX) !== true;
}

/** LOINC's long common names of the codes that the service itself writes. */
const LOINC_DISPLAYS: Readonly<Record<string, string>> = {
  '9279-1': 'Respiratory rate',
  '8867-4': 'Heart rate',
  '2708-6': 'Oxygen saturation in Arterial blood',
  '59408-5': 'Oxygen saturation in Arterial blood by Pulse oximetry',
  '8310-5': 'Body temperature',
  '8302-2': 'Body height',
  '9843-4': 'Head Occipital-frontal circumference',
  '29463-7': 'Body weight',
  '39156-5': 'Body mass index (BMI) [Ratio]',
  '85354-9': 'Blood pressure panel with all children optional',
  '8480-6': 'Systolic blood pressure',
  '8462-4': 'Diastolic blood pressure',
  '72514-3': 'Pain severity - 0-10 verbal numeric rating [Score] - Reported',
};

/** The official display of a LOINC code that the service knows; undefined for every other code. */
export function officialDisplay(loincCode: string): string | undefined {
  return Object.hasOwn(LOINC_DISPLAYS, loincCode) ? LOINC_DISPLAYS[loincCode] : undefined;
}

/**
 * What is wrong with a LOINC code, undefined when nothing is. Terms (`718-7`) are checked by their check
 * digit; answers (`LA6576-8`) by their shape only, as LOINC publishes the rule for terms.
 */
export function loincFault(code: string): Words | undefined {
  if (/^LA\d{1,7}-\d$/.test(code)) return undefined;
  const match = /^(\d{1,7})-(\d)$/.exec(code);
  if (match === null)
    return {
      en: 'is not a LOINC code: digits, a hyphen and a check digit, such as 718-7',
      fr: 'n’est pas un code LOINC : des chiffres, un trait d’union et un chiffre de contrôle, par exemple 718-7',
    };
  const [, number = '', checkDigit = ''] = match;
  return loincCheckDigit(number) === Number(checkDigit)
    ? undefined
    : {
        en: 'has a wrong LOINC check digit; look for a mistyped digit',
        fr: 'a un mauvais chiffre de contrôle LOINC ; cherchez un chiffre mal saisi',
      };
}

/** The check digit of a LOINC number (LOINC Users' Guide, "Calculating Mod 10 Check Digits"). */
export function loincCheckDigit(number: string): number {
  let sum = 0;
  for (const [fromRight, digit] of [...number].reverse().entries()) {
    const weighted = fromRight % 2 === 0 ? Number(digit) * 2 : Number(digit);
    sum += weighted > 9 ? weighted - 9 : weighted;
  }
  return (10 - (sum % 10)) % 10;
}

/**
 * Encounter classes of HL7 v3 ActCode, ActEncounterCode (FHIR R4, value set "v3-ActEncounterCode").
 * Contract: ENC-4.
 */

export const ACT_CODE_SYSTEM = 'http://terminology.hl7.org/CodeSystem/v3-ActCode';

/** Official displays, by code. */
export const ENCOUNTER_CLASS_DISPLAY: Readonly<Record<string, string>> = {
  AMB: 'ambulatory',
  EMER: 'emergency',
  FLD: 'field',
  HH: 'home health',
  IMP: 'inpatient encounter',
  ACUTE: 'inpatient acute',
  NONAC: 'inpatient non-acute',
  OBSENC: 'observation encounter',
  PRENC: 'pre-admission',
  SS: 'short stay',
  VR: 'virtual',
};

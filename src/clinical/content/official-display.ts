/**
 * The official displays of codes that clinical records are full of: a code is sent with its official display, or
 * with none. Other codes keep the display of their source, which cannot be checked without their system's tables.
 */
import type { CodeableConcept, Coding } from '../../fhir/coded.ts';
import { Decimal } from '../../fhir/json.ts';
import {
  DATA_ABSENT_REASON,
  LOINC,
  OBSERVATION_CATEGORY,
  officialDisplay,
  V2_DIAGNOSTIC_SERVICE,
} from '../../terminology/lookup/code-systems.ts';

const HL7 = 'http://terminology.hl7.org/CodeSystem';

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
  [`${HL7}/v3-ObservationInterpretation`]: {
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
  [`${HL7}/v2-0203`]: {
    MR: 'Medical record number',
    PI: 'Patient internal identifier',
    PT: 'Patient external identifier',
    NI: 'National unique individual identifier',
    SS: 'Social Security number',
    DL: "Driver's license number",
    PPN: 'Passport number',
    JHN: 'Jurisdictional health number (Canada)',
    HC: 'Health Card Number',
    MB: 'Member Number',
    MC: "Patient's Medicare number",
    MA: 'Patient Medicaid number',
    AN: 'Account number',
    VN: 'Visit number',
    PLAC: 'Placer Identifier',
    FILL: 'Filler Identifier',
    ACSN: 'Accession ID',
    NPI: 'National provider identifier',
    LN: 'License number',
    MD: 'Medical License number',
    XX: 'Organization identifier',
  },
  [`${HL7}/v3-MaritalStatus`]: {
    A: 'Annulled',
    D: 'Divorced',
    I: 'Interlocutory',
    L: 'Legally Separated',
    M: 'Married',
    P: 'Polygamous',
    S: 'Never Married',
    T: 'Domestic partner',
    U: 'unmarried',
    W: 'Widowed',
  },
  [`${HL7}/v2-0131`]: {
    BP: 'Billing contact person',
    C: 'Emergency Contact',
    CP: 'Contact person',
    E: 'Employer',
    EP: 'Emergency contact person',
    F: 'Federal Agency',
    I: 'Insurance Company',
    N: 'Next-of-Kin',
    O: 'Other',
    PR: 'Person preparing referral',
    S: 'State Agency',
    U: 'Unknown',
  },
  [`${HL7}/v3-ParticipationType`]: {
    ADM: 'admitter',
    ATND: 'attender',
    CALLBCK: 'callback contact',
    CON: 'consultant',
    DIS: 'discharger',
    ESC: 'escort',
    REF: 'referrer',
    PPRF: 'primary performer',
    SPRF: 'secondary performer',
    PART: 'Participation',
    TRANS: 'Transcriber',
  },
  [`${HL7}/v3-ActPriority`]: {
    A: 'ASAP',
    EL: 'elective',
    EM: 'emergency',
    R: 'routine',
    S: 'stat',
    UR: 'urgent',
  },
  [`${HL7}/admit-source`]: {
    'hosp-trans': 'Transferred from other hospital',
    emd: 'From accident/emergency department',
    outp: 'From outpatient department',
    born: 'Born in hospital',
    gp: 'General Practitioner referral',
    mp: 'Medical Practitioner/physician referral',
    nursing: 'From nursing home',
    psych: 'From psychiatric hospital',
    rehab: 'From rehabilitation facility',
    other: 'Other',
  },
  [`${HL7}/discharge-disposition`]: {
    home: 'Home',
    'alt-home': 'Alternative home',
    'other-hcf': 'Other healthcare facility',
    hosp: 'Hospice',
    long: 'Long-term care',
    aadvice: 'Left against advice',
    exp: 'Expired',
    psy: 'Psychiatric hospital',
    rehab: 'Rehabilitation',
    snf: 'Skilled nursing facility',
    oth: 'Other',
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
  if (concept.coding?.some((coding) => renamed(coding) !== coding) !== true) return concept;
  return { ...concept, coding: concept.coding.map(renamed) };
}

/** What has FHIR's shape, with official displays in all codings of it; the same object where nothing changes. */
export function withOfficialDisplays<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null || value instanceof Decimal) return value;
  const named = renamed(value);
  if (named !== value) return named as Value;
  let changed: Value | undefined;
  // A list of names: with `for … in`, V8 throws its compiled code away again and again, for as long as new shapes come.
  for (const name of Object.keys(value) as (keyof Value)[]) {
    const known = withOfficialDisplays(value[name]);
    if (known === value[name]) continue;
    changed ??= (Array.isArray(value) ? [...value] : { ...value }) as Value;
    changed[name] = known;
  }
  return changed ?? value;
}

/** With its official display, where the source gave another; else the same object. */
function renamed(coding: Coding): Coding {
  const display = coding.display === undefined ? undefined : displayOf(coding);
  return display === undefined || display === coding.display ? coding : { ...coding, display };
}

function displayOf({ system, code }: Coding): string | undefined {
  if (system === undefined || code === undefined) return undefined;
  if (system === LOINC) return officialDisplay(code);
  const table = Object.hasOwn(OFFICIAL_DISPLAYS, system) ? OFFICIAL_DISPLAYS[system] : undefined;
  return table !== undefined && Object.hasOwn(table, code) ? table[code] : undefined;
}

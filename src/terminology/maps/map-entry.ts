/** One entry of a terminology map, and what is checked before it is kept. Contract: TERM-5, TERM-6. */
import type { Words } from '../../platform/words/words.ts';
import {
  HL7_SYSTEM_PREFIX,
  LOINC,
  loincFault,
  mayStartMap,
  SNOMED_CT,
  STANDARD_SYSTEMS,
  UCUM,
} from '../lookup/code-systems.ts';
import { isUcum } from '../units/ucum.ts';

/** How a target relates to the local code (R4 concept-map-equivalence). */
export const EQUIVALENCES = [
  'relatedto',
  'equivalent',
  'equal',
  'wider',
  'subsumes',
  'narrower',
  'specializes',
  'inexact',
  'unmatched',
  'disjoint',
] as const;
export type Equivalence = (typeof EQUIVALENCES)[number];

/** What a local code is in one standard system. Codes that came without a system have the empty `localSystem`. */
export interface MapEntry {
  localSystem: string;
  localCode: string;
  localDisplay: string | null;
  targetSystem: string;
  /** Null where `equivalence` is `unmatched`: there is no such code, and someone decided so. */
  targetCode: string | null;
  targetDisplay: string | null;
  equivalence: Equivalence;
  comment: string | null;
}

/** Fields as they were given; empty and absent are the same, and outer white space does not count. */
export type GivenEntry = { [Field in keyof MapEntry]?: string | null | undefined };

/** The entry, or what is wrong with it: one sentence part that starts with a verb or a field. */
export type CheckedEntry = { entry: MapEntry } | { fault: Words };

const MAX_SYSTEM = 500;
const MAX_CODE = 200;
const MAX_TEXT = 1_000;
const CODE_FORM = {
  en: `at most ${MAX_CODE} characters, no white space but single spaces, no control characters`,
  fr: `au plus ${MAX_CODE} caractères, pas d’autre blanc que des espaces simples, pas de caractère de contrôle`,
};
/** HL7's systems that the service asks maps for. */
const HL7_TARGETS = ['v3-ActCode', 'v3-ParticipationType', 'v3-ObservationInterpretation'].map(
  (name) => `${HL7_SYSTEM_PREFIX}${name}`,
);
/** How a known system is written, by what all its writings come to. */
const KNOWN_SYSTEMS: ReadonlyMap<string, string> = new Map([
  ...[...STANDARD_SYSTEMS, ...HL7_TARGETS].map((system): [string, string] => [writing(system), system]),
  ['loinc', LOINC],
  ['urn:oid:2.16.840.1.113883.6.1', LOINC],
  ['snomed', SNOMED_CT],
  ['urn:oid:2.16.840.1.113883.6.96', SNOMED_CT],
  ['ucum', UCUM],
  ['urn:oid:2.16.840.1.113883.6.8', UCUM],
]);

/** Check what was given. The first fault that is found is told. */
export function checkEntry(given: GivenEntry): CheckedEntry {
  const entry: MapEntry = {
    localSystem: text(given.localSystem) ?? '',
    localCode: text(given.localCode) ?? '',
    localDisplay: text(given.localDisplay),
    targetSystem: text(given.targetSystem) ?? '',
    targetCode: text(given.targetCode),
    targetDisplay: text(given.targetDisplay),
    equivalence: (text(given.equivalence) ?? 'equivalent') as Equivalence,
    comment: text(given.comment),
  };
  const fault = localFault(entry) ?? targetFault(entry) ?? relationFault(entry) ?? textFault(entry);
  return fault === undefined ? { entry } : { fault };
}

function text(value: string | null | undefined): string | null {
  const trimmed = value?.trim() ?? '';
  return trimmed === '' ? null : trimmed;
}

function localFault({ localSystem, localCode }: MapEntry): Words | undefined {
  if (localCode === '') return { en: 'has no local code', fr: 'le code local manque' };
  if (!isCode(localCode))
    return {
      en: `local code is not a FHIR code: ${CODE_FORM.en}`,
      fr: `le code local n’est pas un code FHIR : ${CODE_FORM.fr}`,
    };
  if (localSystem.length > MAX_SYSTEM || /[\s\p{Cc}\p{Cs}]/u.test(localSystem))
    return {
      en: `local system is not a URI: at most ${MAX_SYSTEM} characters, no white space, no control characters`,
      fr: `le système local n’est pas un URI : au plus ${MAX_SYSTEM} caractères, pas de blanc, pas de caractère de contrôle`,
    };
  if (!mayStartMap({ system: localSystem }))
    return {
      en: 'local system is one that no map starts from: its codes are standard, and are sent as they are',
      fr: 'le système local est de ceux dont aucune correspondance ne part : ses codes sont standard et sont envoyés tels quels',
    };
  return undefined;
}

function targetFault({ localSystem, targetSystem, targetCode, equivalence }: MapEntry): Words | undefined {
  if (targetSystem === '') return { en: 'has no target system', fr: 'le système standard manque' };
  if (targetSystem.length > MAX_SYSTEM)
    return {
      en: `target system has more than ${MAX_SYSTEM} characters`,
      fr: `le système standard a plus de ${MAX_SYSTEM} caractères`,
    };
  const meant = KNOWN_SYSTEMS.get(writing(targetSystem));
  if (meant !== undefined && meant !== targetSystem)
    return {
      en: `target system must be written ${meant}`,
      fr: `le système standard doit s’écrire ${meant}`,
    };
  if (!isAbsoluteUri(targetSystem))
    return {
      en: 'target system is not an absolute URI, such as http://loinc.org',
      fr: 'le système standard n’est pas un URI absolu, par exemple http://loinc.org',
    };
  if (targetSystem === localSystem)
    return {
      en: 'target system is the local system: a map leads from one system to another',
      fr: 'le système standard est le système local : une correspondance mène d’un système à un autre',
    };
  if (equivalence === 'unmatched') return undefined;
  if (targetCode === null) return { en: 'has no target code', fr: 'le code standard manque' };
  if (targetSystem === LOINC) return ofTargetCode(loincFault(targetCode));
  if (targetSystem === UCUM)
    return isUcum(targetCode)
      ? undefined
      : {
          en: 'target code is not a valid UCUM unit',
          fr: 'le code standard n’est pas une unité UCUM valable',
        };
  return isCode(targetCode)
    ? undefined
    : {
        en: `target code is not a FHIR code: ${CODE_FORM.en}`,
        fr: `le code standard n’est pas un code FHIR : ${CODE_FORM.fr}`,
      };
}

function relationFault(entry: MapEntry): Words | undefined {
  if (!(EQUIVALENCES as readonly string[]).includes(entry.equivalence))
    return {
      en: `equivalence is not one of ${EQUIVALENCES.join(', ')}`,
      fr: `la relation n’est pas une valeur parmi ${EQUIVALENCES.join(', ')}`,
    };
  if (entry.equivalence === 'unmatched' && (entry.targetCode !== null || entry.targetDisplay !== null))
    return {
      en: 'has a target code although its equivalence is unmatched',
      fr: 'il y a un code standard, alors que la relation est unmatched',
    };
  // R4 ConceptMap, invariant cmd-1.
  if ((entry.equivalence === 'narrower' || entry.equivalence === 'inexact') && entry.comment === null)
    return {
      en: `needs a comment, because its equivalence is ${entry.equivalence}`,
      fr: `il faut un commentaire, car la relation est ${entry.equivalence}`,
    };
  return undefined;
}

function textFault({ localDisplay, targetDisplay, comment }: MapEntry): Words | undefined {
  for (const [value, en, fr] of [
    [localDisplay, 'local display', 'le texte local'],
    [targetDisplay, 'target display', 'le texte officiel'],
    [comment, 'comment', 'le commentaire'],
  ] as const)
    if (value !== null && (value.length > MAX_TEXT || hasControl(value) || !value.isWellFormed()))
      return {
        en: `${en} is too long (more than ${MAX_TEXT} characters) or has control characters`,
        fr: `${fr} est trop long (plus de ${MAX_TEXT} caractères) ou a des caractères de contrôle`,
      };
  return undefined;
}

/** A system's URI without what people write in different ways: case, https, www, a last slash, a version. */
function writing(system: string): string {
  const [unversioned = ''] = system.toLowerCase().split('|');
  return unversioned
    .replace(/^https?:\/\//, '')
    .replace(/^www\./, '')
    .replace(/[/#?]+$/, '');
}

/** FHIR `code` (R4 datatypes): no outer white space, single spaces inside. */
function isCode(code: string): boolean {
  return code.length <= MAX_CODE && /^\S+( \S+)*$/.test(code) && !/\p{Cc}/u.test(code) && code.isWellFormed();
}

/** FHIR `string` allows tabs and line ends among control characters. */
function hasControl(value: string): boolean {
  return /\p{Cc}/u.test(value.replaceAll(/[\t\r\n]/g, ''));
}

function isAbsoluteUri(uri: string): boolean {
  if (uri.length > MAX_SYSTEM || !/^[A-Za-z][A-Za-z0-9+.-]*:[!-~]+$/.test(uri)) return false;
  if (/^urn:oid:/i.test(uri)) return /^urn:oid:[0-2](\.(0|[1-9]\d*))+$/.test(uri);
  if (/^urn:uuid:/i.test(uri)) return /^urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(uri);
  if (/^urn:/i.test(uri)) return /^urn:[a-z0-9][a-z0-9-]{0,31}:\S+$/i.test(uri);
  return !/^https?:/i.test(uri) || (/^https?:\/\/[^/]/i.test(uri) && URL.canParse(uri));
}

function ofTargetCode(fault: Words | undefined): Words | undefined {
  return fault && { en: `target code ${fault.en}`, fr: `le code standard ${fault.fr}` };
}

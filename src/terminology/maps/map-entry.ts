/** One entry of a terminology map, and what is checked before it is kept. Contract: TERM-5, TERM-6. */
import { LOINC, loincFault, SNOMED_CT, STANDARD_SYSTEMS, UCUM } from '../lookup/code-systems.ts';
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
export type CheckedEntry = { entry: MapEntry } | { fault: string };

const MAX_SYSTEM = 500;
const MAX_CODE = 200;
const MAX_TEXT = 1_000;
/** How a known system is written, by what all its writings come to. */
const KNOWN_SYSTEMS: ReadonlyMap<string, string> = new Map([
  ...[...STANDARD_SYSTEMS].map((system): [string, string] => [writing(system), system]),
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

function localFault({ localSystem, localCode }: MapEntry): string | undefined {
  if (localCode === '') return 'has no local code';
  if (!isCode(localCode))
    return `local code is not a FHIR code: it has more than ${MAX_CODE} characters, or two spaces in a row`;
  if (localSystem.length > MAX_SYSTEM || /[\s\p{Cc}]/u.test(localSystem))
    return `local system is not a URI: it has more than ${MAX_SYSTEM} characters, or a space`;
  return undefined;
}

function targetFault({ targetSystem, targetCode, equivalence }: MapEntry): string | undefined {
  if (targetSystem === '') return 'has no target system';
  if (targetSystem.length > MAX_SYSTEM) return `target system has more than ${MAX_SYSTEM} characters`;
  const meant = KNOWN_SYSTEMS.get(writing(targetSystem));
  if (meant !== undefined && meant !== targetSystem) return `target system must be written ${meant}`;
  if (!isAbsoluteUri(targetSystem)) return 'target system is not an absolute URI, such as http://loinc.org';
  if (equivalence === 'unmatched') return undefined;
  if (targetCode === null) return 'has no target code';
  if (targetSystem === LOINC) return prefixed('target code', loincFault(targetCode));
  if (targetSystem === UCUM) return isUcum(targetCode) ? undefined : 'target code is not a valid UCUM unit';
  return isCode(targetCode) ? undefined : `target code is not a FHIR code: at most ${MAX_CODE} characters`;
}

function relationFault(entry: MapEntry): string | undefined {
  if (!(EQUIVALENCES as readonly string[]).includes(entry.equivalence))
    return `equivalence is not one of ${EQUIVALENCES.join(', ')}`;
  if (entry.equivalence === 'unmatched' && (entry.targetCode !== null || entry.targetDisplay !== null))
    return 'has a target code although its equivalence is unmatched';
  // R4 ConceptMap, invariant cmd-1.
  if ((entry.equivalence === 'narrower' || entry.equivalence === 'inexact') && entry.comment === null)
    return `needs a comment, because its equivalence is ${entry.equivalence}`;
  return undefined;
}

function textFault({ localDisplay, targetDisplay, comment }: MapEntry): string | undefined {
  for (const [name, value] of Object.entries({
    'local display': localDisplay,
    'target display': targetDisplay,
    comment,
  }))
    if (value !== null && (value.length > MAX_TEXT || hasControl(value) || !value.isWellFormed()))
      return `${name} is too long (more than ${MAX_TEXT} characters) or has control characters`;
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

function prefixed(field: string, fault: string | undefined): string | undefined {
  return fault === undefined ? undefined : `${field} ${fault}`;
}

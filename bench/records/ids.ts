/**
 * Ids and names of the records that are loaded. They are made from numbers, so that the load generator knows them
 * without asking. Each function has a twin in SQL.
 */

/** The digit that tells kinds of records apart. */
const KINDS = {
  patient: 1,
  encounter: 2,
  practitioner: 3,
  labOrder: 4,
  labResult: 5,
  report: 6,
  imagingOrder: 7,
  study: 8,
  vitalSet: 9,
} as const;

type Kind = keyof typeof KINDS;

export function recordId(kind: Kind, number: number): string {
  return `00000000-0000-4000-8000-${KINDS[kind]}${String(number).padStart(11, '0')}`;
}

/** `number` is SQL. */
export function recordIdSql(kind: Kind, number: string): string {
  return `('00000000-0000-4000-8000-${KINDS[kind]}' || lpad((${number})::text, 11, '0'))::uuid`;
}

const SYLLABLES = ['ba', 'de', 'ko', 'lu', 'mi', 'no', 'ra', 'se', 'ti', 'wu'];
/** Family names, and given names, that there are. */
export const NAMES = 1_000;

/** One of the {@link NAMES}: three syllables, `badeko`. */
export function nameOf(number: number): string {
  return [...String(number % NAMES).padStart(3, '0')].map((digit) => SYLLABLES[Number(digit)]).join('');
}

/** `number` is SQL. */
export function nameSql(number: string): string {
  const syllable = (digits: string) =>
    `(array['${SYLLABLES.join("','")}'])[1 + (${number}) / ${digits} % 10]`;
  return `(${[100, 10, 1].map((digits) => syllable(String(digits))).join(' || ')})`;
}

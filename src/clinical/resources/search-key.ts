/**
 * How a patient's name, identifiers, phones and email addresses become search keys, and how the text of a
 * search does: the start of any name part, or a whole identifier, phone or email. Both sides use the same folding,
 * so that what is written one way is found the other.
 * Contract: PAT-2, PAT-3.
 */

export type SearchKeyKind = 'name' | 'identifier' | 'phone' | 'email';

export interface SearchKey {
  kind: SearchKeyKind;
  key: string;
}

/** What of a patient is searched; the shapes are those of the FHIR data types. */
export interface SearchedPatient {
  names: readonly { use?: string; text?: string; family?: string; given?: readonly string[] }[];
  identifiers: readonly { value?: string }[];
  telecoms: readonly { system?: string; value?: string }[];
}

/** The text of a search, as each kind of key would be written. Empty where it cannot be one. */
export interface SearchTerms {
  /** Every one of these must be the start of a name key. */
  nameStarts: string[];
  identifier: string;
  phone: string;
  email: string;
}

/** Characters of one key at most; what is longer is cut, on both sides. */
const KEY_MAX = 200;
/** Letters that Unicode does not decompose, and how people write them on a plain keyboard. */
const PLAIN_LETTERS: Readonly<Record<string, string>> = {
  ł: 'l',
  ø: 'o',
  đ: 'd',
  ð: 'd',
  ħ: 'h',
  ŧ: 't',
  æ: 'ae',
  œ: 'oe',
  þ: 'th',
};
/** What people type as one, or have on their keyboard in place of one. */
const APOSTROPHES = /['’‘ʼ`´\u1ffdʻ‛′]/g;
const PHONE_SYSTEMS = new Set(['phone', 'sms', 'fax', 'pager']);
/** A phone number as people and systems write it: digits and signs, maybe after `tel:`, maybe with an extension. */
const PHONE_TEXT =
  /^(?:tel:)?[\p{Nd}\s()+./*#\p{Pd}]+(?:[;,]?\s*(?:ext|extension|poste|x)[\s.:=]*\p{Nd}[\p{Nd}\s]*)?$/iu;

/** Without case, accents, compatibility forms, apostrophes and repeated spaces: `José  O’Neil` → `jose oneil`. */
export function foldText(text: string): string {
  // First, too: to NFKD a ´ is a space with an accent.
  const plain = text
    .replace(APOSTROPHES, '')
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(APOSTROPHES, '');
  // By way of upper case, which joins ß with ss; from lower case, which joins ẞ with ß.
  return cut(plain.toLowerCase().toUpperCase().toLowerCase().replace(/ς/g, 'σ').replace(/\s+/g, ' ').trim());
}

/** At most {@link KEY_MAX} characters. Of a character that JavaScript counts as two, not the first half alone: PostgreSQL refuses it. */
function cut(text: string): string {
  return text.slice(0, KEY_MAX).replace(/[\ud800-\udbff]$/, '');
}

/** Digits only, of whichever script: `+1 (555) 378-2854` → `15553782854`. */
export function foldPhone(text: string): string {
  const digits = text.normalize('NFKD').match(/\p{Nd}/gu) ?? [];
  return digits.map(plainDigit).join('').slice(0, KEY_MAX);
}

/** The ten digits of a script stand one after the other (Unicode, section 4.6). */
function plainDigit(digit: string): string {
  if (digit <= '9') return digit;
  const code = digit.codePointAt(0) ?? 0;
  let value = 0;
  while (/\p{Nd}/u.test(String.fromCodePoint(code - value - 1))) value += 1;
  return String(value % 10);
}

/** Every key of a patient, once each, in a fixed order. */
export function patientSearchKeys({ names, identifiers, telecoms }: SearchedPatient): SearchKey[] {
  const keys = new Map<string, SearchKey>();
  const add = (kind: SearchKeyKind, key: string): void => {
    if (key !== '') keys.set(`${kind} ${key}`, { kind, key });
  };
  for (const name of names) {
    for (const part of [name.family, ...(name.given ?? []), name.text])
      for (const key of nameKeys(part ?? '')) add('name', key);
  }
  for (const { value } of identifiers) add('identifier', foldText(value ?? ''));
  for (const { system, value = '' } of telecoms) {
    if (system === 'email') add('email', foldText(value));
    else if (PHONE_SYSTEMS.has(system ?? '')) add('phone', foldPhone(value));
  }
  return [...keys.values()].sort((a, b) => compare(a.kind, b.kind) || compare(a.key, b.key));
}

/** What to look for when a person types `search`. */
export function searchTerms(search: string): SearchTerms {
  const folded = foldText(search);
  return {
    nameStarts: withPlainLetters(withPlainHyphens(folded))
      .split(' ')
      .filter((word) => word !== ''),
    identifier: folded,
    phone: PHONE_TEXT.test(search.normalize('NFKD').trim()) ? foldPhone(search) : '',
    email: folded.includes('@') ? folded : '',
  };
}

/** What a list of patients is ordered by: family name, then given names, folded. */
export function sortName(names: SearchedPatient['names']): string {
  const use = (wanted: string) => names.find((name) => name.use === wanted);
  const name = use('official') ?? use('usual') ?? names[0];
  if (name === undefined) return '';
  const built = [name.family ?? '', ...(name.given ?? [])].join(' ').trim();
  return foldText(built === '' ? (name.text ?? '') : built);
}

/**
 * The whole part, and each of its words where spaces or hyphens join several: of `Ng Mary-Ann` also `mary-ann`. Every
 * hyphen and dash is also the one that keyboards have, and every letter, as it is in what is searched for: of `Łukasz` also
 * `lukasz`.
 */
function nameKeys(part: string): string[] {
  const whole = foldText(part);
  const typed = withPlainHyphens(whole);
  const keys = [whole, typed, ...typed.split(' '), ...typed.split(/[ -]+/)];
  return [...keys, ...keys.map(withPlainLetters)];
}

function withPlainLetters(folded: string): string {
  return cut(folded.replace(/[łøđðħŧæœþ]/g, (letter) => PLAIN_LETTERS[letter] ?? letter));
}

function withPlainHyphens(folded: string): string {
  return folded.replace(/\p{Pd}/gu, '-');
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

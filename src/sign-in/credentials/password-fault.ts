/**
 * Which rule a password breaks that a person chose. The console asks the same while one is typed, so this file is nothing but
 * the rules, and runs in a browser. Contract: SEC-6, SEC-7, WEB-53.
 */
export const PASSWORD_MIN_LENGTH = 12;
export const PASSWORD_MAX_LENGTH = 1_024;

/** `same`, as the old one, only the service can tell. */
export type PasswordFault = 'short' | 'long' | 'email' | 'common' | 'same';

export async function passwordFault(password: string, email: string): Promise<PasswordFault | undefined> {
  // In NFC, as it is hashed: an accent that is typed by itself makes no password longer.
  if ([...password.normalize('NFC')].length < PASSWORD_MIN_LENGTH) return 'short';
  const folded = password.normalize('NFKC').toLowerCase();
  // One character may become several here, and what follows works on these.
  if (Math.max([...password].length, [...folded].length) > PASSWORD_MAX_LENGTH) return 'long';
  if (isEmail(folded, email.toLowerCase())) return 'email';
  if (isPattern(folded) || (await isCommon(folded))) return 'common';
  return undefined;
}

/** The address or its local part, digits and signs at either end aside. */
function isEmail(folded: string, email: string): boolean {
  const [localPart = ''] = email.split('@');
  const core = trimSigns(folded);
  return folded === email || core === trimSigns(email) || core === trimSigns(localPart);
}

/** A unit of up to six characters repeated (`abcabcabcabc`), or characters one after another (`abcdefghijkl`). */
function isPattern(folded: string): boolean {
  if (/^(.{1,6})\1+$/su.test(folded)) return true;
  const codes = [...folded].map((character) => character.codePointAt(0) ?? 0);
  const step = (codes[1] ?? 0) - (codes[0] ?? 0);
  // From 9 the digits go on with 0, and from 0 downwards with 9.
  return (
    Math.abs(step) === 1 &&
    codes.every((code, index) => index === 0 || (code - (codes[index - 1] ?? 0) - step) % 10 === 0)
  );
}

/** In the list, or mostly a word of the list with digits and signs around it, or that word twice. */
async function isCommon(folded: string): Promise<boolean> {
  const common = await commonPasswords();
  const core = trimSigns(folded);
  if (common.has(folded) || (core.length * 2 >= folded.length && common.has(core))) return true;
  const half = folded.length / 2;
  return (
    folded.length % 2 === 0 && folded.slice(0, half) === folded.slice(half) && common.has(folded.slice(half))
  );
}

/** Without what stands around the first and the last letter. Each end is walked once: no expression backtracks. */
function trimSigns(text: string): string {
  const characters = [...text];
  const first = characters.findIndex(isLetter);
  const last = characters.findLastIndex(isLetter);
  return first === -1 ? '' : characters.slice(first, last + 1).join('');
}

function isLetter(character: string): boolean {
  return /^\p{L}$/u.test(character);
}

let list: Promise<ReadonlySet<string>> | undefined;

/** The list is large and rarely needed, so it is read when first asked for. */
function commonPasswords(): Promise<ReadonlySet<string>> {
  list ??= import('@zxcvbn-ts/language-common').then(
    ({ dictionary }) => new Set(dictionary['passwords-common']),
  );
  return list;
}

/** Email addresses as sign-in compares them: without case, and without the white space around them. Contract: SIGN-IN-4. */
import { isPlainLine } from '../../tenancy/organisations/name.ts';

/** RFC 5321 section 4.5.3.1 and RFC 3696 erratum 1690: 64 + 1 + 255. */
export const EMAIL_MAX_LENGTH = 320;

/**
 * The one spelling that is stored, looked up and hashed. In NFC once more behind it: a small letter with its accent may be
 * one character where the capital one is two.
 */
export function normaliseEmail(email: string): string {
  return email.trim().normalize('NFC').toLowerCase().normalize('NFC');
}

/** A local part, one @ and a domain, without spaces. Lists and logs tell accounts apart by it, so it is a plain line, too. */
export function isEmail(text: string): boolean {
  return text.length <= EMAIL_MAX_LENGTH && /^[^\s@]{1,64}@[^\s@]{1,255}$/u.test(text) && isPlainLine(text);
}

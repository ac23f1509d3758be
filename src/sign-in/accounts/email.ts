/** Email addresses as sign-in compares them: without case. Contract: SIGN-IN-4. */

/** RFC 5321 section 4.5.3.1 and RFC 3696 erratum 1690: 64 + 1 + 255. */
export const EMAIL_MAX_LENGTH = 320;

/**
 * The one spelling that is stored, looked up and hashed. In NFC once more behind it: a small letter with its accent may be
 * one character where the capital one is two.
 */
export function normaliseEmail(email: string): string {
  return email.normalize('NFC').toLowerCase().normalize('NFC');
}

/** A local part, one @ and a domain, without spaces or control characters. */
export function isEmail(text: string): boolean {
  return text.length <= EMAIL_MAX_LENGTH && /^[^\s@\p{Cc}]{1,64}@[^\s@\p{Cc}]{1,255}$/u.test(text);
}

/**
 * The name of what an import reads, as it is kept with the import and shown in lists: one line of bounded length that can be
 * seen. The service and the console share it. Contract: ADM-73.
 */

export const NAME_CHARACTERS = 200;

/** Control characters, what else begins a new line, and what turns the direction of the text around. */
const NOT_IN_A_LINE = /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u;
const EACH_NOT_IN_A_LINE = new RegExp(NOT_IN_A_LINE, 'gu');

export function isSourceName(name: string): boolean {
  return name.trim() !== '' && [...name].length <= NAME_CHARACTERS && !NOT_IN_A_LINE.test(name);
}

/** The name that fits a given one; undefined when nothing of it can be seen. */
export function toSourceName(given: string): string | undefined {
  const line = given.replaceAll(EACH_NOT_IN_A_LINE, ' ').trim();
  return line === '' ? undefined : [...line].slice(0, NAME_CHARACTERS).join('').trimEnd();
}

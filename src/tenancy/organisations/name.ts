/** Names of organisations, facilities and roles. They end up on terminals, in pages and in FHIR strings. */
import { tenancyError } from '../errors.ts';

const MAX_LENGTH = 200;

/**
 * The name without spaces around it. Throws for one that is empty or too long, that shows nothing, or has control
 * characters or line breaks (a FHIR string has no control characters: R4, datatypes, `string`), or is no plain line.
 */
export function checkedName(name: string): string {
  const trimmed = name.trim();
  if (trimmed === '' || trimmed.length > MAX_LENGTH)
    throw tenancyError('name_length', { field: 'name', max: MAX_LENGTH });
  if (!isPlainLine(trimmed)) throw tenancyError('name_not_one_line', { field: 'name' });
  return trimmed;
}

/**
 * One line without what overrides, embeds or isolates a direction of text (UAX #9, section 2): with these a name can look like
 * another one, and turn around what a list shows beside it. Names in scripts from right to left need none of them.
 */
export function isPlainLine(text: string): boolean {
  return isOneLine(text) && !/[\u202a-\u202e\u2066-\u2069]/u.test(text);
}

/**
 * Whether text shows something, and has neither control characters nor line breaks: a terminal shows it and does nothing
 * else.
 */
export function isOneLine(text: string): boolean {
  return /[\p{L}\p{N}\p{P}\p{S}]/u.test(text) && !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(text) && text.isWellFormed();
}

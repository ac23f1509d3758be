/** Names of organisations, facilities and roles. They end up on terminals, in pages and in FHIR strings. */
import { tenancyError } from '../errors.ts';

const MAX_LENGTH = 200;

/**
 * The name without spaces around it. Throws for one that is empty or too long, that shows nothing, or has control
 * characters or line breaks (a FHIR string has no control characters: R4, datatypes, `string`).
 */
export function checkedName(name: string): string {
  const trimmed = name.trim();
  if (trimmed === '' || trimmed.length > MAX_LENGTH)
    throw tenancyError('name_length', { field: 'name', max: MAX_LENGTH });
  if (!isOneLine(trimmed)) throw tenancyError('name_not_one_line', { field: 'name' });
  return trimmed;
}

/**
 * Whether text shows something, and has neither control characters nor line breaks: a terminal shows it and does nothing
 * else.
 */
export function isOneLine(text: string): boolean {
  return /[\p{L}\p{N}\p{P}\p{S}]/u.test(text) && !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(text) && text.isWellFormed();
}

/** The record that is read once an import has stored a row: its text is written before the row is (docs/adr/0120). Pure. */
import { Decimal, decimalText } from '../../fhir/json.ts';
import { exactNumber, memberName } from '../content/document.ts';
import type { Values } from '../description/element.ts';

/** Values by member instead of column, as PostgreSQL gives them back. */
export function membersAsObjects(values: Values): Record<string, unknown> {
  const record: Record<string, unknown> = {};
  for (const [column, value] of Object.entries(values))
    if (value !== undefined && value !== null) record[memberName(column)] = jsonbValue(value);
  return record;
}

/** What is read of a `jsonb` value or a number that is stored: shorter names come before longer ones, zero has no sign. */
export function jsonbValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(jsonbValue);
  const number = storedDigits(value);
  if (number !== undefined) return exactNumber(number);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(storedMembers(value).map(([name, member]) => [name, jsonbValue(member)]));
}

function storedMembers(value: object): [string, unknown][] {
  const given = Object.entries(value).filter(([, member]) => member !== undefined);
  return given.sort(([a], [b]) => a.length - b.length || (a < b ? -1 : 1));
}

function storedDigits(value: unknown): string | undefined {
  if (typeof value !== 'number' && !(value instanceof Decimal)) return undefined;
  return decimalText(value)?.replace(/^-(?=[0.]+$)/, '');
}

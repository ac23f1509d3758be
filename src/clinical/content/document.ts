/**
 * Records with their parts in one column: SQL writes each row as a JSON array of its columns, and the same list
 * of columns reads it back. Arrays rather than objects, and numbers as text: it is half the bytes, and JSON.parse
 * need not look at every number (docs/adr/0041).
 */
import { Decimal, parseFhirJson } from '../../fhir/json.ts';

/** A member of a record: the SQL that selects it, and how it is read. */
export interface Field {
  name: string;
  sql: string;
  read?: (value: never) => unknown;
}

/** Columns of the table aliased `alias`. */
export function columns(alias: string, names: readonly string[]): Field[] {
  return names.map((name) => ({ name: memberName(name), sql: `${alias}.${name}` }));
}

/** `numeric` columns, digits as they are stored. */
export function numbers(alias: string, names: readonly string[]): Field[] {
  return names.map((name) => ({ name: memberName(name), sql: `${alias}.${name}::text`, read: exactNumber }));
}

/** `jsonb` columns with decimals inside. */
export function exactJson(alias: string, names: readonly string[]): Field[] {
  return names.map((name) => ({
    name: memberName(name),
    sql: `${alias}.${name}::text`,
    read: parseFhirJson,
  }));
}

/** A list of parts: `from` is all that follows the select list but the order. */
export function parts(name: string, fields: readonly Field[], from: string, order: string): Field {
  return {
    name,
    sql: `(select json_agg(${rowSql(fields)} order by ${order}) ${from})`,
    read: (rows: unknown[][]) => rows.map((row) => readRow(fields, row)),
  };
}

/** SQL of one row. */
export function rowSql(fields: readonly Field[]): string {
  return `json_build_array(${fields.map(({ sql }) => sql).join(', ')})`;
}

/** What {@link rowSql} gave, as a record; what is null is absent. */
export function readRow(fields: readonly Field[], row: readonly unknown[]): object {
  const record: Record<string, unknown> = {};
  for (let index = 0; index < fields.length; index += 1) {
    const field = fields[index];
    const value = row[index];
    if (field === undefined || value === null || value === undefined) continue;
    record[field.name] = field.read === undefined ? value : field.read(value as never);
  }
  return record;
}

/** A number whose digits are kept. */
export function exactNumber(text: string): number | Decimal {
  const number = Number(text);
  return String(number) === text ? number : new Decimal(text);
}

/** By name of column: there are some hundreds. */
const MEMBER_NAMES = new Map<string, string>();

/** `patient_instruction` → `patientInstruction`. */
export function memberName(column: string): string {
  const known = MEMBER_NAMES.get(column);
  if (known !== undefined) return known;
  const name = column.replace(/_([a-z0-9])/g, (_match, letter: string) => letter.toUpperCase());
  MEMBER_NAMES.set(column, name);
  return name;
}

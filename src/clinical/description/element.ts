/**
 * How one element of a resource is held: in which columns, how it is read from FHIR, and how it is written
 * (docs/adr/0102). Kinds of elements are in the files beside this one.
 */
import type { CodeableConcept } from '../../fhir/coded.ts';
import type { ElementReader } from '../../fhir/reading/element-reader.ts';
import { type Field, memberName } from '../content/document.ts';
import type { Output } from './output.ts';
import type { ReadContext } from './read-context.ts';

/** Column name and SQL type. */
export type Column = readonly [name: string, type: string];

/** Values by column name; absent or undefined is null. */
export type Values = Readonly<Record<string, unknown>>;

/** Rows of child tables in their order, by table name. */
export type Children = Readonly<Record<string, readonly Values[]>>;

/** What was read of an element. */
export interface Read {
  values: Values;
  /** Rows of its own. */
  children?: Children;
  /** Rows of lists inside of its rows. */
  nested?: Children;
}

/** Of an element that is not there. */
export const NOTHING: Read = { values: {} };

export interface ChildTable {
  name: string;
  /** Column that holds the id of the record. */
  parent: string;
  columns: readonly Column[];
  /** Columns with one fixed value, for a table that several kinds of records share. */
  fixed?: Readonly<Record<string, string>>;
  /** True when records were stored before the table was there: their digests do not name it while it has no rows. */
  addedLater?: true;
  /** Its rows are the ids in this column of the record, each once, so that the record is found by them. */
  idsOf?: string;
  /** Columns of the record that its rows repeat, for an index. They follow from the record: its digest names them once. */
  repeats?: readonly Column[];
}

/** The table of a list, whose items are its rows. */
export interface ListTable<Name extends string> extends Pick<ChildTable, 'parent' | 'fixed'> {
  table: string;
  /** Of the table in the select list. */
  alias: string;
  /** Member of the record that has the list. */
  member: Name;
}

/** The row that an element is selected of. */
export interface Owner {
  alias: string;
  /** What the primary key of its table names beside the organisation. */
  reach: 'organisation' | 'facility';
  /** Column with the id of the record: `id`, or that of the parent. */
  id: string;
  /** Without what may be left out of a record that is too large. */
  lesser?: boolean;
}

/** SQL of the rows of the owner in a table, from `from` on. */
export function rowsOf(
  { name, parent, fixed = {} }: Pick<ChildTable, 'name' | 'parent' | 'fixed'>,
  alias: string,
  owner: Owner,
): string {
  const conditions = [
    `${alias}.organisation_id = $1`,
    ...(owner.reach === 'facility' ? [`${alias}.facility_id = ${owner.alias}.facility_id`] : []),
    ...Object.entries(fixed).map(([column, value]) => `${alias}.${column} = '${value}'`),
    `${alias}.${parent} = ${owner.alias}.${owner.id}`,
  ];
  return `from ${name} ${alias} where ${conditions.join(' and ')}`;
}

/** What a writer needs beside the record. */
export interface EmitContext {
  organisationId: string;
  /** The concept as the terminology maps make it: standard codings first, local ones kept. */
  translate: (concept: CodeableConcept) => CodeableConcept;
}

/** `Members` are those of the record that the element is written from; `fields` selects them. */
export interface Element<Members extends object = object> {
  /** What an import fills. */
  readonly columns: readonly Column[];
  readonly tables?: readonly ChildTable[];
  fields(owner: Owner): readonly Field[];
  read(reader: ElementReader, name: string, context: ReadContext): Read;
  write(output: Output, name: string, record: Members, context: EmitContext): void;
}

/** What is known of a resource when its elements are read. */
export interface Found {
  values: Values;
  children: Children;
  reader: ElementReader;
  context: ReadContext;
}

/** Columns or rows that are no element: what was found out about the record. */
export interface Derived<Members extends object = object> extends Element<Members> {
  readonly derive: (found: Found) => Read;
}

/** `patient_instruction` → `patientInstruction`. */
export type MemberName<Column extends string> = Column extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<MemberName<Tail>>}`
  : Column;

/** One optional member, named after its column. */
export type Member<Column extends string, Value> = { [Name in MemberName<Column>]?: Value };

export interface Single<Value> {
  /** SQL type of the column. */
  type: string;
  read: (reader: ElementReader, name: string, context: ReadContext) => Value | undefined;
  write: (output: Output, name: string, value: Value, context: EmitContext) => void;
}

/** An element in one column. */
export function single<const ColumnName extends string, Value>(
  column: ColumnName,
  { type, read, write }: Single<Value>,
): Element<Member<ColumnName, Value>> {
  const member = memberName(column);
  return {
    columns: [[column, type]],
    fields: ({ alias }) => [{ name: member, sql: `${alias}.${column}` }],
    read(reader, name, context) {
      const value = read(reader, name, context);
      return value === undefined ? NOTHING : { values: { [column]: value } };
    },
    write(output, name, record, context) {
      const value = (record as Readonly<Record<string, Value | undefined>>)[member];
      if (value !== undefined && value !== null) write(output, name, value, context);
    },
  };
}

/** An element that R4 requires. */
export function required<Members extends object>(element: Element<Members>): Element<Required<Members>> {
  return {
    ...element,
    read(reader, name, context) {
      const read = element.read(reader, name, context);
      if (Object.values(read.values).every((value) => value === undefined)) reader.fail(name, 'is missing');
      return read;
    },
  } as Element<Required<Members>>;
}

/** A column that an import works out from what it has read of the resource. */
export function derived<const Name extends string, Value>(
  column: Name,
  type: string,
  find: (found: Found) => Value,
): Derived<{ [Key in MemberName<Name>]: Value }> {
  return {
    ...onlyStored(column, type, find),
    fields: ({ alias }) => [{ name: memberName(column), sql: `${alias}.${column}` }],
  };
}

/** The same for what only SQL looks at: the record does not have it. */
export function onlyStored(column: string, type: string, find: (found: Found) => unknown): Derived {
  return {
    ...NO_ELEMENT,
    columns: [[column, type]],
    derive: (found) => ({ values: { [column]: find(found) } }),
  };
}

/** The same for rows of a table. */
export function onlyStoredRows(table: ChildTable, find: (found: Found) => Values[]): Derived {
  return {
    ...NO_ELEMENT,
    tables: [table],
    derive: (found) => ({ values: {}, children: { [table.name]: find(found) } }),
  };
}

const NO_ELEMENT: Derived = {
  columns: [],
  fields: () => [],
  read: () => NOTHING,
  write: () => undefined,
  derive: () => NOTHING,
};

/** A column that an import leaves alone: the grouping of records fills it. */
export function grouped<const Name extends string>(column: Name): Derived<Member<Name, string>> {
  return {
    ...NO_ELEMENT,
    fields: ({ alias }) => [{ name: memberName(column), sql: `${alias}.${column}` }],
  };
}

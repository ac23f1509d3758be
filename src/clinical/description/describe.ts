/**
 * Describes a resource once: from the description follow the columns that an import fills, the select list, the type
 * of the record, and both readers and writers of FHIR (docs/adr/0102). A forgotten element is a compile error.
 */
import type { ElementReader } from '../../fhir/reading/element-reader.ts';
import type { Field } from '../content/document.ts';
import {
  type Children,
  type ChildTable,
  type Column,
  type Derived,
  type Element,
  type EmitContext,
  NOTHING,
  type Owner,
  type Values,
} from './element.ts';
import { jsonObject, type Output } from './output.ts';
import { type DescribedType, R4_ELEMENTS, type R4Element } from './r4-elements.ts';
import type { ReadContext } from './read-context.ts';

type Elements = Readonly<Record<string, Element>>;

/** What is no element of R4 must be derived: no misspelt element gets by. */
export type Known<Type extends DescribedType, Described> = {
  [Name in keyof Described]: Name extends R4Element<Type> ? Element : Derived;
};

/** Each element that is not described, with the reason. */
export type NotKept<Type extends DescribedType, Described> = Readonly<
  Record<Exclude<R4Element<Type>, keyof Described>, string>
>;

type Intersection<Union> = (Union extends unknown ? (one: Union) => void : never) extends (
  all: infer All,
) => void
  ? All
  : never;
export type Members<Described> = Intersection<
  { [Name in keyof Described]: Described[Name] extends Element<infer Own> ? Own : never }[keyof Described]
>;
type Flat<Type> = { [Name in keyof Type]: Type[Name] };
/** A record as the import writes it. */
export interface RecordRow {
  readonly id: string;
  /** In the order of the columns: the digest of the content depends on it. */
  readonly values: Values;
  readonly children: Children;
}

/** A table with the columns organisation_id, [facility_id,] id, version, content_digest, updated_at. */
export interface RecordTable {
  name: string;
  /** What the primary key names beside the organisation: the record alone, or its facility too. */
  reach: 'organisation' | 'facility';
  columns: readonly Column[];
  children: readonly ChildTable[];
}

export interface Description<Type extends DescribedType, Row extends object> {
  readonly resourceType: Type;
  readonly table: RecordTable;
  /** What a record is read from, of a row with this alias; `lesser`: without what may be left out. */
  fields(alias: string, options?: { lesser?: boolean }): readonly Field[];
  read(reader: ElementReader, context: ReadContext): RecordRow;
  /** The elements, in the order of the FHIR page. */
  write(output: Output, record: Row, context: EmitContext): void;
}

/** The record that a description is of. */
export type RecordOf<Described> = Described extends {
  write(output: Output, record: infer Row, context: EmitContext): void;
}
  ? Flat<Row & { id: string }>
  : never;

export interface DescriptionInput<Type extends DescribedType, Described extends Elements> {
  table: string;
  reach: RecordTable['reach'];
  /** In the order of the columns, on which the digest of a record's content depends. */
  elements: Described & Known<Type, Described>;
  notKept: NotKept<Type, Described>;
}

export function describeResource<const Type extends DescribedType, const Described extends Elements>(
  resourceType: Type,
  { table: name, reach, elements }: DescriptionInput<Type, Described>,
): Description<Type, Members<Described> & object> {
  const entries = Object.entries(elements as Elements);
  const table: RecordTable = {
    name,
    reach,
    columns: entries.flatMap(([, { columns }]) => columns),
    children: tablesOf(elements),
  };
  const writers = writersOf(resourceType, elements);
  const read = readerOf(elements);
  const derived = Object.values(elements as Elements).filter(isDerived);
  return {
    resourceType,
    table,
    fields: (alias, options) => [
      { name: 'id', sql: `${alias}.id` },
      ...fieldsOf(elements, { alias, reach, id: 'id', ...options }),
    ],
    read(reader, context) {
      const { values, children } = read(reader, context);
      for (const element of derived) {
        const found = element.derive({ values, children, reader, context });
        Object.assign(values, found.values);
        if (found.children !== undefined) addRows(children, found.children);
      }
      for (const { name, addedLater, idsOf } of table.children)
        if (idsOf !== undefined || (addedLater === true && children[name]?.length === 0))
          delete children[name];
      return { id: context.id, values: inOrder(table.columns, values), children };
    },
    write(output, record, context) {
      for (const { name, element } of writers) element.write(output, name, record, context);
    },
  };
}

/** Child tables, each once. */
export function tablesOf(elements: Elements): ChildTable[] {
  const tables = Object.values(elements).flatMap(({ tables = [] }) => tables);
  return [...new Map(tables.map((table) => [table.name, table])).values()];
}

export function fieldsOf(elements: Elements, owner: Owner): Field[] {
  return Object.values(elements).flatMap((element) => element.fields(owner));
}

type ReadElements = (
  reader: ElementReader,
  context: ReadContext,
) => { values: Record<string, unknown>; children: Record<string, Values[]> };

/** Reads values and rows of every element. Rows of the record itself come before those inside of its rows. */
export function readerOf(elements: Elements): ReadElements {
  const tables = tablesOf(elements).map(({ name }) => name);
  const named = Object.entries(elements).map(([name, element]) => ({ name: plainName(name), element }));
  return (reader, context) => {
    const values: Record<string, unknown> = {};
    const children: Record<string, Values[]> = {};
    for (const table of tables) children[table] = [];
    const nested: Children[] = [];
    for (const { name, element } of named) {
      const read = element.read(reader, name, context);
      if (read !== NOTHING) Object.assign(values, read.values);
      if (read.children !== undefined) addRows(children, read.children);
      if (read.nested !== undefined) nested.push(read.nested);
    }
    for (const rows of nested) addRows(children, rows);
    return { values, children };
  };
}

function addRows(children: Record<string, Values[]>, added: Children): void {
  for (const table in added) for (const row of added[table] ?? []) children[table]?.push(row);
}

function isDerived(element: Element): element is Derived {
  return 'derive' in element;
}

/** The values in the order of the columns, without those that are undefined. */
export function inOrder(columns: readonly Column[], values: Values): Values {
  const ordered: Record<string, unknown> = {};
  for (const [name] of columns) {
    const value = values[name];
    if (value !== undefined) ordered[name] = value;
  }
  return ordered;
}

/** Those that write something, in the order of the FHIR page; extensions come first. */
export function writersOf(type: DescribedType, elements: Elements): { name: string; element: Element }[] {
  return ['extension', ...R4_ELEMENTS[type].split(' ')].flatMap((name) => {
    const element = elements[name];
    return element === undefined ? [] : [{ name: plainName(name), element }];
  });
}

/** `value[x]` → `value`. */
function plainName(name: string): string {
  return name.endsWith('[x]') ? name.slice(0, -'[x]'.length) : name;
}

/** What is written before the elements; `meta` only where `lastUpdated` is there. */
export interface Identified {
  id: string;
  version?: number;
  /** FHIR instant of the last change. */
  lastUpdated?: string;
}

/** The resource as an object. */
export function resourceObject<Row extends object>(
  { resourceType, write }: Description<DescribedType, Row>,
  record: Row & Identified,
  context: EmitContext,
): { resourceType: string; id: string; [element: string]: unknown } {
  const { id, version, lastUpdated } = record;
  const members = jsonObject((output) => {
    if (lastUpdated !== undefined) output.json('meta', { versionId: String(version), lastUpdated });
    write(output, record, context);
  });
  return { resourceType, id, ...members };
}

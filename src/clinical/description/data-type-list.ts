/**
 * A list of one data type, such as the names of a patient: each item is a row of a table of its own, and the record has
 * the items in FHIR's shape.
 */
import {
  nonEmpty,
  address as readAddress,
  contactPoint as readContactPoint,
  humanName as readHumanName,
  readIdentifier,
} from '../../fhir/reading/datatypes.ts';
import type { ElementReader } from '../../fhir/reading/element-reader.ts';
import {
  type ChildTable,
  type Column,
  type Element,
  type ListTable,
  rowsOf,
  type Values,
} from './element.ts';
import { type DescribedType, R4_ELEMENTS, type R4Element } from './r4-elements.ts';

/** SQL type of the column of an element. A Period has two columns, one for each end. */
type ColumnType = 'text' | 'text[]' | 'integer' | 'jsonb' | 'Period';

interface DataType<Value extends object> {
  name: DescribedType;
  read: (item: ElementReader) => Value | undefined;
  /** In the order of the columns, on which the digest of a record's content depends. */
  columns: Readonly<Record<string, ColumnType>>;
}

interface DataTypeInput<Value, Type extends DescribedType, Kept extends R4Element<Type>> {
  read: (item: ElementReader) => Value | undefined;
  columns: Record<Kept, ColumnType>;
  /** Each element that has no column, with the reason. */
  notKept: Record<Exclude<R4Element<Type>, Kept>, string>;
}

export const HUMAN_NAME = dataType('HumanName', {
  read: readHumanName,
  columns: {
    use: 'text',
    text: 'text',
    family: 'text',
    given: 'text[]',
    prefix: 'text[]',
    suffix: 'text[]',
    period: 'Period',
  },
  notKept: {},
});

export const IDENTIFIER = dataType('Identifier', {
  read: readIdentifier,
  columns: { use: 'text', type: 'jsonb', system: 'text', value: 'text', period: 'Period' },
  notKept: { assigner: 'the system says who gave it' },
});

export const CONTACT_POINT = dataType('ContactPoint', {
  read: readContactPoint,
  columns: { system: 'text', value: 'text', use: 'text', rank: 'integer' },
  notKept: { period: 'no column holds it yet' },
});

export const ADDRESS = dataType('Address', {
  read: readAddress,
  columns: {
    use: 'text',
    type: 'text',
    text: 'text',
    line: 'text[]',
    city: 'text',
    district: 'text',
    state: 'text',
    country: 'text',
    postalCode: 'text',
  },
  notKept: { period: 'no column holds it yet' },
});

function dataType<Value extends object, Type extends DescribedType, Kept extends R4Element<Type>>(
  name: Type,
  { read, columns }: DataTypeInput<Value, Type, Kept>,
): DataType<Value> {
  return { name, read, columns };
}

export function dataTypeList<const Name extends string, Value extends object>(
  { name: type, read, columns }: DataType<Value>,
  { table: name, parent, alias, member, fixed }: ListTable<Name>,
): Element<{ [Key in Name]?: Value[] }> {
  const elements = Object.entries(columns);
  const table: ChildTable = {
    name,
    parent,
    ...(fixed === undefined ? {} : { fixed }),
    columns: [['position', 'smallint'], ...elements.flatMap(([element, type]) => columnsOf(element, type))],
  };
  // In the order of the FHIR page, as everything that is written.
  const pairs = R4_ELEMENTS[type].split(' ').flatMap((element) => {
    const columnType = columns[element];
    return columnType === undefined ? [] : [`'${element}', ${sqlOf(alias, element, columnType)}`];
  });
  return {
    columns: [],
    tables: [table],
    fields(owner) {
      const item = `json_strip_nulls(json_build_object(${pairs.join(', ')}))`;
      const sql = `(select json_agg(${item} order by ${alias}.position) ${rowsOf(table, alias, owner)})`;
      return [{ name: member, sql }];
    },
    read(reader, elementName) {
      const items = nonEmpty(reader.children(elementName).map(read)) ?? [];
      return {
        values: {},
        children: { [name]: items.map((item, position) => rowOf(item, position, columns)) },
      };
    },
    write: (output, elementName, record) => output.json(elementName, record[member]),
  };
}

/** The item that is selected of a row that {@link dataTypeList} read. `value` gives what is stored in a column. */
export function storedItem<Value extends object>(
  { name, columns }: DataType<Value>,
  value: (column: string) => unknown,
): Value {
  const item: Record<string, unknown> = {};
  for (const element of R4_ELEMENTS[name].split(' ')) {
    const type = columns[element];
    if (type === undefined) continue;
    const stored = type === 'Period' ? storedPeriod(element, value) : value(columnName(element));
    const isEmpty = Array.isArray(stored) && stored.length === 0;
    if (stored !== undefined && stored !== null && !isEmpty) item[element] = stored;
  }
  return item as Value;
}

function storedPeriod(element: string, value: (column: string) => unknown): object | undefined {
  const bounds = ['start', 'end'].flatMap((bound) => {
    const at = value(columnName(`${element}_${bound}`)) ?? undefined;
    return at === undefined ? [] : [[bound, at]];
  });
  return bounds.length === 0 ? undefined : Object.fromEntries(bounds);
}

function columnsOf(element: string, type: ColumnType): Column[] {
  const column = columnName(element);
  if (type !== 'Period') return [[column, type]];
  return [
    [`${column}_start`, 'text'],
    [`${column}_end`, 'text'],
  ];
}

function sqlOf(alias: string, element: string, type: ColumnType): string {
  const column = `${alias}.${columnName(element)}`;
  if (type === 'text[]') return `nullif(${column}, '{}')`;
  if (type !== 'Period') return column;
  const [start, end] = [`${column}_start`, `${column}_end`];
  return `case when coalesce(${start}, ${end}) is not null then json_build_object('start', ${start}, 'end', ${end}) end`;
}

function rowOf(item: object, position: number, columns: DataType<object>['columns']): Values {
  const row: Record<string, unknown> = { position };
  for (const [element, type] of Object.entries(columns)) {
    const value = (item as Readonly<Record<string, unknown>>)[element];
    if (value === undefined) continue;
    const column = columnName(element);
    if (type !== 'Period') row[column] = value;
    else for (const [bound, at] of Object.entries(value as object)) row[`${column}_${bound}`] = at;
  }
  return row;
}

/** `postalCode` → `postal_code`. */
function columnName(element: string): string {
  return element.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

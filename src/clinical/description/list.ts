/** An element that repeats and has parts: each of its items is a row of a table of its own. */
import type { ElementReader } from '../../fhir/reading/element-reader.ts';
import { parts } from '../content/document.ts';
import {
  fieldsOf,
  inOrder,
  type Known,
  type Members,
  type NotKept,
  readerOf,
  tablesOf,
  writersOf,
} from './describe.ts';
import { type ChildTable, type Element, type ListTable, type Read, rowsOf, type Values } from './element.ts';
import type { DescribedType } from './r4-elements.ts';

export interface ListInput<
  Type extends DescribedType,
  Name extends string,
  Described extends Readonly<Record<string, Element>>,
> extends ListTable<Name> {
  /** SQL type of the position of an item, from 0. */
  position?: 'integer' | 'smallint';
  /**
   * For a list inside of another list: the column with the position of the outer item. `position` is the fixed value
   * of that column for a list of the same table that is inside of no other.
   */
  within?: { column: string; position?: number };
  elements: Described & Known<Type, Described>;
  notKept: NotKept<Type, Described>;
  /** Why an item is refused; undefined for one that is taken. */
  refusal?: (item: ElementReader) => string | undefined;
  /** Whether an item says enough to be written; without it, every one that says something does. */
  isShown?: (item: Members<Described>) => boolean;
}

/** `elements` are those of one item. */
export function list<
  const Type extends DescribedType,
  const Name extends string,
  const Described extends Readonly<Record<string, Element>>,
>(
  type: Type,
  {
    table: name,
    parent,
    alias,
    member,
    position = 'integer',
    within,
    fixed,
    elements,
    refusal,
    isShown,
  }: ListInput<Type, Name, Described>,
): Element<{ [Key in Name]?: Members<Described>[] }> & { readonly within: string | undefined } {
  const table: ChildTable = {
    name,
    parent,
    ...(fixed === undefined ? {} : { fixed }),
    columns: [
      ...(within === undefined ? [] : [[within.column, 'integer'] as const]),
      ['position', position],
      ...Object.values(elements as Readonly<Record<string, Element>>).flatMap(({ columns }) => columns),
    ],
  };
  const inner = tablesOf(elements);
  const innerTables = new Map(
    Object.values(elements as Readonly<Record<string, Element & { within?: string }>>).flatMap((element) =>
      (element.tables ?? []).map((one) => [one.name, { column: element.within ?? '', columns: one.columns }]),
    ),
  );
  const writers = writersOf(type, elements);
  const readItem = readerOf(elements);
  const nothing: Read = { values: {}, children: { [name]: [] } };
  return {
    columns: [],
    tables: [table, ...inner],
    within: within?.column,
    fields(owner) {
      const item = { ...owner, alias, id: parent };
      const place =
        within && `and ${alias}.${within.column} = ${within.position ?? `${owner.alias}.position`}`;
      const from = `${rowsOf(table, alias, owner)} ${place ?? ''}`;
      return [parts(member, fieldsOf(elements, item), from, `${alias}.position`)];
    },
    read(reader, elementName, context) {
      const items = reader.children(elementName);
      if (items.length === 0) return nothing;
      const rows: Values[] = [];
      const nested: Record<string, Values[]> = Object.fromEntries(inner.map((one) => [one.name, []]));
      for (const item of items) {
        const reason = refusal?.(item);
        if (reason !== undefined) item.fail('', reason);
        const { values, children } = readItem(item, context);
        const row = inOrder(table.columns, { ...values, position: rows.length });
        for (const [innerName, innerRows] of Object.entries(children)) {
          const { column, columns } = innerTables.get(innerName) ?? { column: '', columns: [] };
          for (const innerRow of innerRows)
            nested[innerName]?.push(inOrder(columns, { ...innerRow, [column]: rows.length }));
        }
        rows.push(within?.position === undefined ? row : { [within.column]: within.position, ...row });
      }
      return { values: {}, children: { [name]: rows }, nested };
    },
    write(output, elementName, record, context) {
      const items = (record as { [Key in Name]?: Members<Described>[] })[member];
      const written = isShown === undefined ? items : items?.filter(isShown);
      output.list(elementName, written, (inside, item) => {
        for (const { name: own, element } of writers) element.write(inside, own, item as object, context);
      });
    },
  };
}

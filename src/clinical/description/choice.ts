/** `deceased[x]` and the like: one element of several types, each in a column of its own. */
import type { Members } from './describe.ts';
import type { Element } from './element.ts';

/** `kinds`: by the end of the element's name. Where a record has more than one, the last of them is written. */
export function choice<const Kinds extends Readonly<Record<string, Element>>>(
  kinds: Kinds,
): Element<Members<Kinds> & object> {
  const entries = Object.entries(kinds);
  return {
    columns: entries.flatMap(([, { columns }]) => columns),
    fields: (owner) => entries.flatMap(([, kind]) => kind.fields(owner)),
    read(reader, name, context) {
      // A choice that is given in two types is refused here.
      reader.choice(name);
      const values = entries.map(([end, kind]) => kind.read(reader, `${name}${end}`, context).values);
      return { values: Object.assign({}, ...values) };
    },
    write(output, name, record, context) {
      for (const [end, kind] of entries.toReversed())
        if (has(kind, record)) return kind.write(output, `${name}${end}`, record, context);
    },
  };
}

/** Whether the record has what the kind is written from. */
function has(kind: Element, record: object): boolean {
  const members = record as Readonly<Record<string, unknown>>;
  return kind
    .fields({ alias: '', reach: 'facility', id: 'id' })
    .some(({ name }) => members[name] !== undefined && members[name] !== null);
}

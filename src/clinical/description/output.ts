/** Where elements are written: an object. What says nothing is left out: FHIR has no empty values. */
import type { Decimal } from '../../fhir/json.ts';

export interface Output {
  /** A primitive. */
  value(name: string, value: string | number | boolean | Decimal | null | undefined): void;
  /** What has FHIR's shape already. */
  json(name: string, value: object | null | undefined): void;
  object(name: string, write: (output: Output) => void): void;
  list<Item>(
    name: string,
    items: readonly Item[] | null | undefined,
    write: (output: Output, item: Item) => void,
  ): void;
}

/** The object that `write` writes; empty where nothing is written. */
export function jsonObject(write: (output: Output) => void): Record<string, unknown> {
  const output = new ObjectOutput();
  write(output);
  return output.members;
}

/** Absent, or an empty list. */
function isNothing(value: object | null | undefined): value is null | undefined {
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0);
}

class ObjectOutput implements Output {
  readonly members: Record<string, unknown> = {};

  value(name: string, value: string | number | boolean | Decimal | null | undefined): void {
    if (value !== undefined && value !== null && value !== '') this.members[name] = value;
  }

  json(name: string, value: object | null | undefined): void {
    if (!isNothing(value)) this.members[name] = value;
  }

  object(name: string, write: (output: Output) => void): void {
    const members = jsonObject(write);
    if (Object.keys(members).length > 0) this.members[name] = members;
  }

  list<Item>(
    name: string,
    items: readonly Item[] | null | undefined,
    write: (output: Output, item: Item) => void,
  ): void {
    const list = (items ?? []).flatMap((item) => {
      const members = jsonObject((output) => write(output, item));
      return Object.keys(members).length === 0 ? [] : [members];
    });
    if (list.length > 0) this.members[name] = list;
  }
}

/** The object that elements are written into. What says nothing is left out: FHIR has no empty values. */
import type { Decimal } from '../../fhir/json.ts';

/** The object that `write` writes; empty where nothing is written. */
export function jsonObject(write: (output: Output) => void): Record<string, unknown> {
  const output = new Output();
  write(output);
  return output.members;
}

export class Output {
  readonly members: Record<string, unknown> = {};

  /** A primitive. */
  value(name: string, value: string | number | boolean | Decimal | null | undefined): void {
    if (value !== undefined && value !== null && value !== '') this.members[name] = value;
  }

  /** What has FHIR's shape already. */
  json(name: string, value: object | null | undefined): void {
    const isNothing = value === undefined || value === null || (Array.isArray(value) && value.length === 0);
    if (!isNothing) this.members[name] = value;
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

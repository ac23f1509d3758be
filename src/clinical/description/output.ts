/** Where elements are written: JSON text, or an object. What says nothing is left out: FHIR has no empty values. */
import { type Decimal, parseFhirJson } from '../../fhir/json.ts';

/** A value in FHIR's shape, as the JSON text that the database holds. Not empty. */
export type JsonText = string;

export interface Output {
  /** A primitive. */
  value(name: string, value: string | number | boolean | Decimal | null | undefined): void;
  /** What has FHIR's shape already. JSON text is copied, not read. */
  json(name: string, value: object | JsonText | null | undefined): void;
  object(name: string, write: (output: Output) => void): void;
  list<Item>(
    name: string,
    items: readonly Item[] | null | undefined,
    write: (output: Output, item: Item) => void,
  ): void;
}

/** The text of a JSON object; `{}` where nothing is written. */
export function jsonText(write: (output: Output) => void): string {
  const output = new TextOutput();
  write(output);
  return `{${output.members.slice(1)}}`;
}

/** An object, to be looked into or changed before it is sent. */
export function jsonObject(write: (output: Output) => void): Record<string, unknown> {
  const output = new ObjectOutput();
  write(output);
  return output.members;
}

class TextOutput implements Output {
  /** `,"name":value` for each member. */
  members = '';

  value(name: string, value: string | number | boolean | Decimal | null | undefined): void {
    if (value === undefined || value === null || value === '') return;
    this.members += `,"${name}":${JSON.stringify(value)}`;
  }

  json(name: string, value: object | JsonText | null | undefined): void {
    if (value === undefined || value === null) return;
    this.members += `,"${name}":${typeof value === 'string' ? value : JSON.stringify(value)}`;
  }

  object(name: string, write: (output: Output) => void): void {
    const before = this.members;
    this.members = '';
    write(this);
    const inner = this.members;
    this.members = inner === '' ? before : `${before},"${name}":{${inner.slice(1)}}`;
  }

  list<Item>(
    name: string,
    items: readonly Item[] | null | undefined,
    write: (output: Output, item: Item) => void,
  ): void {
    if (items === undefined || items === null || items.length === 0) return;
    const before = this.members;
    let list = '';
    for (const item of items) {
      this.members = '';
      write(this, item);
      if (this.members !== '') list += `,{${this.members.slice(1)}}`;
    }
    this.members = list === '' ? before : `${before},"${name}":[${list.slice(1)}]`;
  }
}

class ObjectOutput implements Output {
  readonly members: Record<string, unknown> = {};

  value(name: string, value: string | number | boolean | Decimal | null | undefined): void {
    if (value !== undefined && value !== null && value !== '') this.members[name] = value;
  }

  json(name: string, value: object | JsonText | null | undefined): void {
    if (value !== undefined && value !== null)
      this.members[name] = typeof value === 'string' ? parseFhirJson(value) : value;
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

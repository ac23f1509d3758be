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
  return `{${output.members}}`;
}

/** An object, to be looked into or changed before it is sent. */
export function jsonObject(write: (output: Output) => void): Record<string, unknown> {
  const output = new ObjectOutput();
  write(output);
  return output.members;
}

/** Absent, or an empty list. */
function isNothing(value: object | JsonText | null | undefined): value is null | undefined {
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0);
}

class TextOutput implements Output {
  /** `"name":value` for each member, with commas between. */
  members = '';

  value(name: string, value: string | number | boolean | Decimal | null | undefined): void {
    if (value === undefined || value === null || value === '') return;
    this.add(name, typeof value === 'string' ? quoted(value) : JSON.stringify(value));
  }

  json(name: string, value: object | JsonText | null | undefined): void {
    if (isNothing(value)) return;
    this.add(name, typeof value === 'string' ? value : JSON.stringify(value));
  }

  object(name: string, write: (output: Output) => void): void {
    const before = this.members;
    this.members = '';
    write(this);
    const inner = this.members;
    this.members = before;
    if (inner !== '') this.add(name, `{${inner}}`);
  }

  list<Item>(
    name: string,
    items: readonly Item[] | null | undefined,
    write: (output: Output, item: Item) => void,
  ): void {
    if (items === undefined || items === null) return;
    const before = this.members;
    let list = '';
    for (const item of items) {
      this.members = '';
      write(this, item);
      if (this.members !== '') list += list === '' ? `{${this.members}}` : `,{${this.members}}`;
    }
    this.members = before;
    if (list !== '') this.add(name, `[${list}]`);
  }

  private add(name: string, json: string): void {
    this.members += this.members === '' ? `"${name}":${json}` : keyOf(name) + json;
  }
}

const KEYS = new Map<string, string>();

/** `,"name":`, made once for each element: joining it anew for each record is most of the cost. */
function keyOf(name: string): string {
  const known = KEYS.get(name);
  if (known !== undefined) return known;
  const key = `,"${name}":`;
  KEYS.set(name, key);
  return key;
}

/** Characters of the longest text that is looked through here. `JSON.stringify` writes longer ones. */
const SHORT = 80;

/** Gives what `JSON.stringify` gives. For a short text its call costs more than looking through the text. */
function quoted(text: string): string {
  if (text.length > SHORT) return JSON.stringify(text);
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    // Controls, quotation marks, backslashes, and everything from the halves of surrogate pairs upwards.
    if (unit < 32 || unit === 34 || unit === 92 || unit >= 0xd800) return JSON.stringify(text);
  }
  return `"${text}"`;
}

class ObjectOutput implements Output {
  readonly members: Record<string, unknown> = {};

  value(name: string, value: string | number | boolean | Decimal | null | undefined): void {
    if (value !== undefined && value !== null && value !== '') this.members[name] = value;
  }

  json(name: string, value: object | JsonText | null | undefined): void {
    if (!isNothing(value)) this.members[name] = typeof value === 'string' ? parseFhirJson(value) : value;
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

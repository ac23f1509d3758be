/**
 * Reads the elements of one FHIR resource: checks each value against its R4 data type
 * (https://hl7.org/fhir/R4/datatypes.html) and remembers which elements nobody asked for.
 *
 * Every failure is a `ResourceRejected` that names the element and the rule, never the value.
 * Contract: HTTP-29, IN-7, IN-59.
 */
import { type FhirDateTime, parseDateTime } from '../date-time.ts';
import { Decimal, decimalText } from '../json.ts';
import { type JsonObject, ResourceRejected } from './json-resource.ts';

/** R4 code: no white space but single spaces inside, of whatever width; so no tab and no line end. */
const CODE = /^\S+(?:[^\S\t\n\v\f\r]\S+)*$/;
const URI = /^\S+$/;
const ID = /^[A-Za-z0-9\-.]{1,64}$/;
/** What an id looks like, for people. */
export const ID_FORM = '1 to 64 letters, digits, - and .';
/** R4 dateTime: seconds and a zone wherever there is a time. */
const DATE_TIME = /^\d{4}(?:-\d{2}(?:-\d{2}(?:T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2}))?)?)?$/;
const INTEGER_MAX = 2_147_483_647;
/** Characters of one string at most (FHIR R4: "Strings SHALL NOT exceed 1MB"), but for base64 content. */
const STRING_MAX = 1_048_576;

export class ElementReader {
  /** Element path without indexes: `Patient.name.given`. */
  readonly path: string;
  /** Of the facility: a date is a day there. */
  readonly timeZone: string;
  readonly #source: JsonObject;
  /** Names of elements that are there and were read, or are ignored; few, so that a list is quicker than a set. */
  readonly #read: string[] = [];
  readonly #children: ElementReader[] = [];

  constructor(source: JsonObject, path: string, timeZone: string) {
    this.#source = source;
    this.path = path;
    this.timeZone = timeZone;
  }

  /** A reader of a whole resource; `resourceType` and `id` count as read. */
  static of(resource: JsonObject & { readonly resourceType?: unknown }, timeZone: string): ElementReader {
    const reader = new ElementReader(resource, String(resource.resourceType), timeZone);
    return reader.ignore('resourceType', 'id');
  }

  has(name: string): boolean {
    return this.#source[name] !== undefined;
  }

  /** Elements that are kept in another way, or carry nothing to keep. */
  ignore(...names: readonly string[]): this {
    this.#read.push(...names);
    return this;
  }

  /** FHIR `string` or `markdown`; undefined when absent, and where it is nothing but white space. */
  string(name: string, maximum = STRING_MAX): string | undefined {
    const text = this.#given(name, maximum);
    return text === undefined || isBlank(text) ? undefined : text;
  }

  /** A repeating FHIR `string`; undefined when absent, and where each item has only an extension or is blank. */
  strings(name: string, maximum = STRING_MAX): string[] | undefined {
    const items = this.#array(name)?.filter((item) => item !== null) ?? [];
    const texts = items.map((item) => this.#text(name, item, maximum)).filter((text) => !isBlank(text));
    return texts.length === 0 ? undefined : texts;
  }

  /** A value that a database index holds, `maxBytes` of UTF-8 at most. */
  indexed(name: string, text: string | undefined, maxBytes: number): string | undefined {
    if (text !== undefined && Buffer.byteLength(text) > maxBytes)
      this.fail(name, `is longer than the limit of ${maxBytes} bytes`);
    return text;
  }

  /** FHIR `base64Binary` as its text; the caller bounds it. */
  base64(name: string): string | undefined {
    const text = this.string(name, Number.POSITIVE_INFINITY)?.replace(/\s+/g, '');
    if (text === undefined) return undefined;
    if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) this.fail(name, 'is not base64');
    return text;
  }

  /** FHIR `code`, one of `allowed` where that is given. */
  code<Code extends string = string>(name: string, allowed?: readonly Code[]): Code | undefined {
    const text = this.#given(name, 255);
    if (text === undefined) return undefined;
    if (!CODE.test(text)) this.fail(name, 'is not a FHIR code');
    if (allowed !== undefined && !(allowed as readonly string[]).includes(text))
      this.fail(name, `is not one of ${allowed.join(', ')}`);
    return text as Code;
  }

  /** FHIR `uri`, `url` or `canonical`. */
  uri(name: string): string | undefined {
    const text = this.#given(name, 4_096);
    if (text !== undefined && !URI.test(text)) this.fail(name, 'is not a FHIR uri');
    return text;
  }

  /** FHIR `id`. */
  id(name: string): string | undefined {
    const text = this.#given(name, STRING_MAX);
    if (text !== undefined && !ID.test(text)) this.fail(name, `is not a FHIR id: ${ID_FORM}`);
    return text;
  }

  boolean(name: string): boolean | undefined {
    const value = this.#take(name);
    if (value === undefined || typeof value === 'boolean') return value;
    return this.fail(name, 'is not true or false');
  }

  /** FHIR `integer`, `positiveInt` (minimum 1) or `unsignedInt` (minimum 0). */
  integer(name: string, minimum = -INTEGER_MAX - 1): number | undefined {
    const value = this.#take(name);
    if (value === undefined) return undefined;
    if (!Number.isInteger(value)) this.fail(name, 'is not a FHIR integer');
    const number = value as number;
    if (number < minimum || number > INTEGER_MAX) this.fail(name, 'is too large or too small for its type');
    return number;
  }

  /** FHIR `decimal`, digits as they came; `maximum` of them, an exponent spelled out. */
  decimal(name: string, maximum = Number.POSITIVE_INFINITY): number | Decimal | undefined {
    const value = this.#take(name);
    if (value === undefined) return value;
    if (typeof value !== 'number' && !(value instanceof Decimal)) return this.fail(name, 'is not a number');
    const digits = (decimalText(value) ?? '').replaceAll(/\D/g, '').length;
    return digits > maximum ? this.fail(name, `has more than ${maximum} digits`) : value;
  }

  /** FHIR `date`: a year, month or day. */
  date(name: string): string | undefined {
    const parsed = this.#moment(name, 'date');
    if (parsed?.precision === 'time') this.fail(name, 'is not a FHIR date');
    return parsed?.text;
  }

  /** FHIR `dateTime`, or `instant` with `precision` `time`. */
  dateTime(name: string, precision?: 'time'): FhirDateTime | undefined {
    const parsed = this.#moment(name, precision === undefined ? 'dateTime' : 'instant');
    if (parsed !== undefined && precision !== undefined && parsed.precision !== precision)
      this.fail(name, 'is not a FHIR instant');
    return parsed;
  }

  /** A repeating FHIR `dateTime`, as it was written. */
  dateTimes(name: string): string[] | undefined {
    return this.strings(name)?.map((text) => this.#momentOf(name, text, 'dateTime').text);
  }

  #moment(name: string, type: 'date' | 'dateTime' | 'instant'): FhirDateTime | undefined {
    const value = this.#take(name);
    return value === undefined ? undefined : this.#momentOf(name, value, type);
  }

  #momentOf(name: string, value: unknown, type: 'date' | 'dateTime' | 'instant'): FhirDateTime {
    const text = this.#text(name, value, 64);
    const parsed = DATE_TIME.test(text) ? parseDateTime(text) : undefined;
    const exists = type === 'date' ? 'that day does not exist' : 'that day or time does not exist';
    return parsed ?? this.fail(name, `is not a FHIR ${type}, or ${exists}`);
  }

  /** A nested element. */
  child(name: string): ElementReader | undefined {
    const value = this.#take(name);
    return value === undefined ? undefined : this.#nested(name, value);
  }

  /** A repeating nested element; empty when absent. */
  children(name: string): ElementReader[] {
    return (this.#array(name) ?? []).map((item) => this.#nested(name, item));
  }

  /** Element names that start with `prefix` and are there: `value` → `valueQuantity`, for `value[x]`. */
  choice(prefix: string): string | undefined {
    let found: string | undefined;
    for (const name in this.#source) {
      if (!isChoice(name, prefix)) continue;
      if (found !== undefined) this.fail(`${prefix}[x]`, 'is given with more than one type');
      found = name;
    }
    return found;
  }

  /** Reject the resource: `<path>.<name> <reason>`. */
  fail(name: string, reason: string): never {
    throw new ResourceRejected(name === '' ? `${this.path} ${reason}` : `${this.path}.${name} ${reason}`);
  }

  /** The value of an element that must be there. */
  required<T>(name: string, value: T | undefined): T {
    return value === undefined ? this.fail(name, 'is missing') : value;
  }

  /** Path of each element that nobody read, once for each item of a repeating one. */
  unread(): string[] {
    const unread: string[] = [];
    this.#addUnread(unread);
    return unread;
  }

  #addUnread(unread: string[]): void {
    for (const name in this.#source) {
      if (this.#read.includes(name)) continue;
      const value = this.#source[name];
      const times = Array.isArray(value) ? value.length : 1;
      for (let index = 0; index < times; index += 1) unread.push(`${this.path}.${name}`);
    }
    for (const child of this.#children) child.#addUnread(unread);
  }

  #take(name: string): unknown {
    const value = this.#source[name];
    if (value === undefined) return undefined;
    this.#read.push(name);
    // JSON null is allowed in arrays of primitives only (FHIR R4, "JSON").
    if (value === null) this.fail(name, 'is null');
    return value;
  }

  #array(name: string): unknown[] | undefined {
    const value = this.#take(name);
    if (value === undefined) return undefined;
    if (!Array.isArray(value)) return this.fail(name, 'is not a list');
    if (value.length === 0) this.fail(name, 'is an empty list');
    return value;
  }

  #given(name: string, maximum: number): string | undefined {
    const value = this.#take(name);
    return value === undefined ? undefined : this.#text(name, value, maximum);
  }

  #text(name: string, value: unknown, maximum: number): string {
    if (typeof value !== 'string') return this.fail(name, 'is not a string');
    if (value === '') this.fail(name, 'is empty');
    if (value.length > maximum) this.fail(name, `is longer than the limit of ${maximum} characters`);
    if (value.includes('\0')) this.fail(name, 'contains the character NUL');
    if (!value.isWellFormed()) this.fail(name, 'contains half of a character (one surrogate of two)');
    return value;
  }

  #nested(name: string, value: unknown): ElementReader {
    if (typeof value !== 'object' || value === null || Array.isArray(value) || value instanceof Decimal)
      return this.fail(name, 'is not an object');
    const reader = new ElementReader(value as JsonObject, `${this.path}.${name}`, this.timeZone);
    this.#children.push(reader);
    return reader;
  }
}

/** Says nothing, and an R4 validator refuses it (FHIR R4, "string"). */
function isBlank(text: string): boolean {
  return !/\S/.test(text);
}

function isChoice(name: string, prefix: string): boolean {
  return name.startsWith(prefix) && /^[A-Z]/.test(name.slice(prefix.length));
}

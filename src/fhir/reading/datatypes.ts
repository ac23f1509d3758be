/**
 * FHIR R4 data types as the internal model keeps them (https://hl7.org/fhir/R4/datatypes.html): the known
 * elements in one fixed order, checked, so that the same content always gives the same digest.
 */
import type { CodeableConcept, Coding, Identifier, Period } from '../coded.ts';
import type { FhirDateTime } from '../date-time.ts';
import type { Address, ContactPoint, HumanName } from '../person.ts';
import type { ElementReader } from './element-reader.ts';

const CONTACT_SYSTEMS = ['phone', 'fax', 'email', 'pager', 'url', 'sms', 'other'] as const;
const CONTACT_USES = ['home', 'work', 'temp', 'old', 'mobile'] as const;
const ADDRESS_USES = ['home', 'work', 'temp', 'old', 'billing'] as const;
const ADDRESS_TYPES = ['postal', 'physical', 'both'] as const;
const NAME_USES = ['usual', 'official', 'temp', 'nickname', 'anonymous', 'old', 'maiden'] as const;
const IDENTIFIER_USES = ['usual', 'official', 'temp', 'secondary', 'old'] as const;
/** Characters of one part of a name or an address, or of a contact's value, and of what is shown for a code. */
const PART_MAX = 1_024;
const DISPLAY_MAX = 8_192;
/** Bytes of UTF-8; both go into one row of an index, which PostgreSQL bounds at about 2,700. */
const IDENTIFIER_SYSTEM_BYTES = 1_024;
const IDENTIFIER_VALUE_BYTES = 900;
export const GENDERS = ['male', 'female', 'other', 'unknown'] as const;

/** The reader's result for an element; undefined when it is absent or nothing in it was known. */
export function coding(reader: ElementReader): Coding | undefined {
  return compact<Coding>({
    system: reader.uri('system'),
    version: reader.string('version'),
    code: reader.code('code'),
    display: reader.string('display', DISPLAY_MAX),
    userSelected: reader.boolean('userSelected'),
  });
}

export function codeableConcept(reader: ElementReader): CodeableConcept | undefined {
  return compact<CodeableConcept>({
    coding: nonEmpty(reader.children('coding').map(coding)),
    text: reader.string('text', DISPLAY_MAX),
  });
}

export function readIdentifier(reader: ElementReader): Identifier | undefined {
  return compact<Identifier>({
    use: reader.code('use', IDENTIFIER_USES),
    type: optional(reader.child('type'), codeableConcept),
    system: reader.indexed('system', reader.uri('system'), IDENTIFIER_SYSTEM_BYTES),
    value: reader.indexed('value', reader.string('value'), IDENTIFIER_VALUE_BYTES),
    period: optional(reader.child('period'), period),
  });
}

export function contactPoint(reader: ElementReader): ContactPoint | undefined {
  const value = reader.string('value', PART_MAX);
  // R4 invariant cpt-2: a system is required if a value is provided.
  if (value !== undefined && !reader.has('system')) reader.fail('system', 'is missing, but a value is given');
  return compact<ContactPoint>({
    system: reader.code('system', CONTACT_SYSTEMS),
    value,
    use: reader.code('use', CONTACT_USES),
    rank: reader.integer('rank', 1),
  });
}

export function address(reader: ElementReader): Address | undefined {
  return compact<Address>({
    use: reader.code('use', ADDRESS_USES),
    type: reader.code('type', ADDRESS_TYPES),
    text: reader.string('text', PART_MAX),
    line: reader.strings('line', PART_MAX),
    city: reader.string('city', PART_MAX),
    district: reader.string('district', PART_MAX),
    state: reader.string('state', PART_MAX),
    postalCode: reader.string('postalCode', PART_MAX),
    country: reader.string('country', PART_MAX),
  });
}

export function humanName(reader: ElementReader): HumanName | undefined {
  return compact<HumanName>({
    use: reader.code('use', NAME_USES),
    text: reader.string('text', PART_MAX),
    family: reader.string('family', PART_MAX),
    given: reader.strings('given', PART_MAX),
    prefix: reader.strings('prefix', PART_MAX),
    suffix: reader.strings('suffix', PART_MAX),
    period: optional(reader.child('period'), period),
  });
}

/** A Period's bounds; rejects one that ends before it starts (R4 invariant per-1), by the days of the facility. */
export function periodBounds(reader: ElementReader): {
  start: FhirDateTime | undefined;
  end: FhirDateTime | undefined;
} {
  const { timeZone } = reader;
  const start = reader.dateTime('start');
  const end = reader.dateTime('end');
  if (start !== undefined && end !== undefined && isBefore(end, start.span(timeZone).start, timeZone))
    reader.fail('', 'ends before it starts');
  return { start, end };
}

/** True when all of `end` is over by `instant`: a day is when the next one has begun. */
function isBefore(end: FhirDateTime, instant: Date, timeZone: string): boolean {
  const last = lastInstant(end, timeZone);
  return end.precision === 'time' ? last < instant : last <= instant;
}

export function period(reader: ElementReader): Period | undefined {
  const { start, end } = periodBounds(reader);
  return compact<Period>({ start: start?.text, end: end?.text });
}

/** The instant at which something that ends at `end` is over: a date lasts to the end of that day. */
export function lastInstant(end: FhirDateTime, timeZone: string): Date {
  const span = end.span(timeZone);
  return end.precision === 'time' ? span.start : span.end;
}

/** `read` of an element that may be absent. */
export function optional<T>(
  reader: ElementReader | undefined,
  read: (reader: ElementReader) => T | undefined,
) {
  return reader === undefined ? undefined : read(reader);
}

/** The items that hold something; undefined for none: FHIR has no empty lists. */
export function nonEmpty<T>(items: readonly (T | undefined)[]): T[] | undefined {
  const kept = items.filter((item) => item !== undefined);
  return kept.length === 0 ? undefined : kept;
}

/** The object without its undefined members; undefined when nothing is left. */
export function compact<T extends object>(
  members: { [Name in keyof T]?: T[Name] | undefined },
): T | undefined {
  let kept: T | undefined;
  for (const name in members) {
    const value = members[name];
    if (value === undefined) continue;
    kept ??= {} as T;
    kept[name] = value;
  }
  return kept;
}

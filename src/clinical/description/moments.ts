/** Elements that say when: the FHIR text as it was written, and the instant that it stands for. */
import type { Period } from '../../fhir/coded.ts';
import { type FhirDateTime, instantText } from '../../fhir/date-time.ts';
import type { Timing } from '../../fhir/measured.ts';
import { compact, optional, periodBounds } from '../../fhir/reading/datatypes.ts';
import type { ElementReader } from '../../fhir/reading/element-reader.ts';
import { known } from '../../fhir/reading/measured.ts';
import { timing } from '../../fhir/reading/timing.ts';
import { columns, exactJson } from '../content/document.ts';
import { type Element, NOTHING, type Values } from './element.ts';

/**
 * FHIR `dateTime` or `instant`, whose text the record has as `member`. The columns end in `_source` (the text) or in
 * `_at` (the instant).
 */
export function moment<const Member extends string>(
  member: Member,
  columns: readonly (`${string}_source` | `${string}_at`)[],
  precision?: 'time',
): Element<{ [Name in Member]?: string }> {
  const source = columns.find((column) => column.endsWith('_source'));
  return {
    columns: columns.map((column) => [column, column.endsWith('_at') ? 'timestamptz' : 'text']),
    fields: ({ alias }) => [{ name: member, sql: `${alias}.${source}` }],
    read(reader, name, { scope }) {
      const at = reader.dateTime(name, precision);
      if (at === undefined) return NOTHING;
      const values = columns.map((column) => [
        column,
        column.endsWith('_at') ? instant(at, scope.timeZone) : at?.text,
      ]);
      return { values: Object.fromEntries(values) as Values };
    },
    write: (output, name, record) => output.value(name, record[member]),
  };
}

/** A Period of a part, as it was written. */
export function periodTexts(): Element<{ periodStart?: string; periodEnd?: string }> {
  return {
    columns: [
      ['period_start', 'text'],
      ['period_end', 'text'],
    ],
    fields: ({ alias }) => columns(alias, ['period_start', 'period_end']),
    read(reader, name) {
      const period = reader.child(name);
      const { start, end } = period === undefined ? {} : periodBounds(period);
      return { values: { period_start: start?.text, period_end: end?.text } };
    },
    write: (output, name, { periodStart, periodEnd }) => output.json(name, periodOf(periodStart, periodEnd)),
  };
}

export function periodOf(start: string | undefined, end: string | undefined): Period | undefined {
  return compact<Period>({ start, end });
}

export type TimeType = 'dateTime' | 'Period' | 'Timing' | 'Instant';

/** `effective[x]` as a record has it. */
export interface Effective<Type extends TimeType> {
  effectiveType?: Type;
  /** FHIR dateTime as it was written; the start of a Period. */
  effectiveStart?: string;
  effectiveEnd?: string;
  effectiveTiming?: Timing;
}

/** `occurrence[x]` as a record has it. */
export interface Occurrence {
  occurrenceType?: 'dateTime' | 'Period' | 'Timing';
  occurrenceStart?: string;
  occurrenceEnd?: string;
  occurrenceTiming?: Timing;
}

/** `effective[x]`; dates without a time begin at midnight in the facility's zone. */
export function effective<const Type extends TimeType>(types: readonly Type[]): Element<Effective<Type>> {
  return timeChoice('effective', types, [['effective_at', 'timestamptz']]);
}

export function occurrence(): Element<Occurrence> {
  return timeChoice('occurrence', ['dateTime', 'Period', 'Timing'], []);
}

function timeChoice(
  prefix: 'effective' | 'occurrence',
  types: readonly TimeType[],
  instants: Element['columns'],
): Element {
  const withTiming = types.includes('Timing');
  const [type, start, end] = [`${prefix}Type`, `${prefix}Start`, `${prefix}End`];
  return {
    columns: [
      [`${prefix}_type`, 'text'],
      [`${prefix}_start`, 'text'],
      [`${prefix}_end`, 'text'],
      ...(withTiming ? ([[`${prefix}_timing`, 'jsonb']] as const) : []),
      ...instants,
    ],
    fields: ({ alias }) => [
      ...columns(alias, [`${prefix}_type`, `${prefix}_start`, `${prefix}_end`]),
      ...(withTiming ? exactJson(alias, [`${prefix}_timing`]) : []),
    ],
    read(reader, name, { scope }) {
      const read = readTime(reader, name, types);
      if (read === undefined) return NOTHING;
      const values = {
        [`${prefix}_type`]: read.type,
        [`${prefix}_start`]: read.start?.text,
        [`${prefix}_end`]: read.end?.text,
        [`${prefix}_timing`]: read.timing,
      };
      const at = instant(read.start ?? read.end, scope.timeZone);
      return { values: instants.length === 0 ? values : { ...values, [`${prefix}_at`]: at } };
    },
    write(output, name, record) {
      const members = record as Readonly<Record<string, string | undefined>>;
      const timings = record as Readonly<Record<string, Timing | undefined>>;
      const written = members[type];
      if (written === 'Timing') output.json(`${name}Timing`, timings[`${prefix}Timing`]);
      else if (written === 'Period') output.json(`${name}Period`, periodOf(members[start], members[end]));
      else if (written !== undefined) output.value(`${name}${suffix(written)}`, members[start]);
    },
  };
}

interface ReadTime {
  type: TimeType;
  start?: FhirDateTime | undefined;
  end?: FhirDateTime | undefined;
  timing?: Timing | undefined;
}

function readTime(reader: ElementReader, prefix: string, types: readonly TimeType[]): ReadTime | undefined {
  const name = reader.choice(prefix);
  if (name === undefined) return undefined;
  const given = name.slice(prefix.length);
  const type = types.find((one) => suffix(one) === given);
  switch (type) {
    case 'dateTime':
      return { type, start: reader.dateTime(name) };
    case 'Instant':
      return { type, start: reader.dateTime(name, 'time') };
    case 'Timing':
      // An order is taken whatever its Timing says. An observation is refused when nothing of its Timing is known.
      return {
        type,
        timing: prefix === 'effective' ? known(reader, name, timing) : optional(reader.child(name), timing),
      };
    case 'Period': {
      const bounds = reader.child(name);
      const { start, end } = bounds === undefined ? {} : periodBounds(bounds);
      if (start === undefined && end === undefined) reader.fail(name, 'has no start and no end');
      return { type, start, end };
    }
    default:
      return reader.fail(name, 'has a type that this resource does not allow');
  }
}

/** `dateTime` → `DateTime`, as the name of a choice ends. */
function suffix(type: string): string {
  return type === 'dateTime' ? 'DateTime' : type;
}

/** The instant at which a date or time begins, in ISO 8601 UTC. */
export function instant(at: FhirDateTime | undefined, timeZone: string): string | undefined {
  return at === undefined ? undefined : instantText(at.span(timeZone).start);
}

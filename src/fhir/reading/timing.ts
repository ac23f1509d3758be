/** Reader of Timing (https://hl7.org/fhir/R4/datatypes.html#Timing). Contract: HTTP-30. */
import { isTime } from '../date-time.ts';
import { decimalText } from '../json.ts';
import type { Timing } from '../measured.ts';
import { codeableConcept, compact, optional, period } from './datatypes.ts';
import type { ElementReader } from './element-reader.ts';
import { DIGITS_MAX, duration, range } from './measured.ts';

const UNITS = ['s', 'min', 'h', 'd', 'wk', 'mo', 'a'] as const;
const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
/** Value set "EventTiming". */
const EVENTS = [
  ...['MORN', 'MORN.early', 'MORN.late', 'NOON', 'AFT', 'AFT.early', 'AFT.late', 'EVE', 'EVE.early'],
  ...['EVE.late', 'NIGHT', 'PHS', 'HS', 'WAKE', 'C', 'CM', 'CD', 'CV', 'AC', 'ACM', 'ACD', 'ACV', 'PC'],
  ...['PCM', 'PCD', 'PCV'],
];

/** Those that are at a meal, and neither before nor after it. */
const AT_MEALS = ['C', 'CM', 'CD', 'CV'];

/** What an element asks for that it stands beside (R4 invariants tim-1, tim-2, tim-6, tim-7 and tim-8). */
const ASKS_FOR = [
  ['duration', 'durationUnit'],
  ['period', 'periodUnit'],
  ['periodMax', 'period'],
  ['durationMax', 'duration'],
  ['countMax', 'count'],
] as const;

export function timing(reader: ElementReader): Timing | undefined {
  return compact<Timing>({
    event: reader.dateTimes('event'),
    repeat: optional(reader.child('repeat'), repeat),
    code: optional(reader.child('code'), codeableConcept),
  });
}

/** Elements are kept one by one. */
function repeat(reader: ElementReader): Record<string, unknown> | undefined {
  reader.choice('bounds');
  for (const [name, other] of ASKS_FOR)
    if (reader.has(name) && !reader.has(other)) reader.fail(other, `is missing, but ${name} is given`);
  if (reader.has('timeOfDay') && reader.has('when'))
    reader.fail('when', 'is not allowed beside timeOfDay (R4 invariant tim-10)');
  const when = each(reader, 'when', (text) => EVENTS.includes(text));
  if (reader.has('offset') && when === undefined) reader.fail('when', 'is missing, but offset is given');
  if (reader.has('offset') && when?.some((event) => AT_MEALS.includes(event)))
    reader.fail('offset', `is not allowed beside ${AT_MEALS.join(', ')} (R4 invariant tim-9)`);
  return compact<Record<string, unknown>>({
    boundsDuration: optional(reader.child('boundsDuration'), duration),
    boundsRange: optional(reader.child('boundsRange'), range),
    boundsPeriod: optional(reader.child('boundsPeriod'), period),
    count: reader.integer('count', 1),
    countMax: reader.integer('countMax', 1),
    duration: notNegative(reader, 'duration'),
    durationMax: reader.decimal('durationMax', DIGITS_MAX),
    durationUnit: reader.code('durationUnit', UNITS),
    frequency: reader.integer('frequency', 1),
    frequencyMax: reader.integer('frequencyMax', 1),
    period: notNegative(reader, 'period'),
    periodMax: reader.decimal('periodMax', DIGITS_MAX),
    periodUnit: reader.code('periodUnit', UNITS),
    dayOfWeek: each(reader, 'dayOfWeek', (text) => DAYS.includes(text)),
    timeOfDay: each(reader, 'timeOfDay', isTime),
    when,
    offset: reader.integer('offset', 0),
  });
}

/** Invariants tim-4 and tim-5. */
function notNegative(reader: ElementReader, name: string) {
  const value = reader.decimal(name, DIGITS_MAX);
  if (value !== undefined && Number(decimalText(value)) < 0) reader.fail(name, 'is negative');
  return value;
}

function each(reader: ElementReader, name: string, isOne: (text: string) => boolean): string[] | undefined {
  const texts = reader.strings(name);
  if (texts?.every(isOne) === false) reader.fail(name, 'has a value that FHIR R4 does not know');
  return texts;
}

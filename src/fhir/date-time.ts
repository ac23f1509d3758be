/**
 * FHIR `date`, `dateTime` and `instant` (R4 datatypes page): precision, zone and the span they stand for.
 * Contract: ENC-15.
 */

/** A parsed FHIR date or date-time. `text` is what was written. */
export interface FhirDateTime {
  readonly text: string;
  readonly precision: 'year' | 'month' | 'day' | 'time';
  /** First instant that it can stand for and the first after it, given a zone for those written without one. */
  span(timeZone: string): { start: Date; end: Date };
}

const PATTERN =
  /^(\d{4})(?:-(\d{2})(?:-(\d{2})(?:T(\d{2}):(\d{2})(?::(\d{2})(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?)?)?$/;

/**
 * Parse a FHIR date or dateTime: `YYYY`, `YYYY-MM`, `YYYY-MM-DD` or a date-time with a zone (seconds may be
 * left out, as in search values). Undefined when it is none of these or names a day that does not exist.
 */
export function parseDateTime(text: string): FhirDateTime | undefined {
  const match = PATTERN.exec(text);
  if (match === null) return undefined;
  const [, year = '', month, day, hour, minute, second, fraction, zone] = match;
  if (year === '0000' || (hour !== undefined && !validTime(hour, minute, second, zone))) return undefined;
  const date = { year: Number(year), month: Number(month ?? 1), day: Number(day ?? 1) };
  if (!isDay(date)) return undefined;
  if (hour !== undefined)
    return timed(text, second === undefined ? 60_000 : fraction === undefined ? 1_000 : 1);
  const precision = day !== undefined ? 'day' : month !== undefined ? 'month' : 'year';
  return dated(text, precision, Temporal.PlainDate.from(date));
}

const FIRST = new Date('0001-01-01T00:00:00.000Z');
const LAST = new Date('9999-12-31T23:59:59.999Z');

/** In ISO 8601 UTC, with a year of four digits: the first or last day of all may be of another year in UTC. */
export function instantText(at: Date): string {
  return (at < FIRST ? FIRST : at > LAST ? LAST : at).toISOString();
}

/** Whether a FHIR date or dateTime says the day; a year or a month does not. */
export function saysDay(text: string): boolean {
  return text.length >= 'YYYY-MM-DD'.length;
}

const TIME = /^([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?$/;

/** Whether a text is a FHIR `time`. */
export function isTime(text: string): boolean {
  return TIME.test(text);
}

const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** Whether the calendar has the day; an import asks for each time, and Temporal takes longer to say so. */
function isDay({ year, month, day }: { year: number; month: number; day: number }): boolean {
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const days = (DAYS[month - 1] ?? 0) + (month === 2 && isLeap ? 1 : 0);
  return day >= 1 && day <= days;
}

/** True for an IANA zone that this runtime knows. An offset, such as `+01:00`, is none. */
export function isTimeZone(zone: string): boolean {
  if (!/^[a-z]/i.test(zone)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone });
    // Temporal does not take all that Intl takes, such as `SystemV/EST5`.
    startOfDay(Temporal.PlainDate.from('2026-01-01'), zone);
    return true;
  } catch {
    return false;
  }
}

function validTime(hour: string, minute?: string, second?: string, zone?: string): boolean {
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second ?? 0) > 60) return false;
  if (zone === undefined || zone === 'Z') return zone === 'Z';
  const [hours, minutes] = [Number(zone.slice(1, 3)), Number(zone.slice(4, 6))];
  return (hours < 14 && minutes <= 59) || (hours === 14 && minutes === 0);
}

function timed(text: string, resolutionMs: number): FhirDateTime | undefined {
  const withSeconds = resolutionMs === 60_000 ? text.replace(/(T\d{2}:\d{2})/, '$1:00') : text;
  // R4 allows the leap second :60; Date knows none.
  const leapMs = withSeconds.includes(':60') ? 1_000 : 0;
  const startMs = Date.parse(withSeconds.replace(':60', ':59')) + leapMs;
  if (Number.isNaN(startMs)) return undefined;
  return {
    text,
    precision: 'time',
    span: () => ({ start: new Date(startMs), end: new Date(startMs + resolutionMs) }),
  };
}

function dated(text: string, precision: 'year' | 'month' | 'day', first: Temporal.PlainDate): FhirDateTime {
  const next = first.add(
    precision === 'year' ? { years: 1 } : precision === 'month' ? { months: 1 } : { days: 1 },
  );
  return {
    text,
    precision,
    span: (timeZone) => ({ start: startOfDay(first, timeZone), end: startOfDay(next, timeZone) }),
  };
}

function startOfDay(date: Temporal.PlainDate, timeZone: string): Date {
  return new Date(date.toZonedDateTime(timeZone).epochMilliseconds);
}

/**
 * The parameters of an encounter search (docs/encounters.md, "Search").
 * Contract: ENC-10, ENC-11, ENC-13, ENC-14, ENC-15, ENC-16, ENC-20, ENC-21, ENC-39.
 */
import type { Static } from 'typebox';
import type { EncounterStatus } from '../clinical/resources/encounter.fhir.ts';
import { ENCOUNTER_STATUSES } from '../clinical/resources/encounter.fhir.ts';
import { parseDateTime } from '../fhir/date-time.ts';
import { FORMAT_PARAMETER } from '../fhir/media-type.ts';
import { patientIdIn } from '../fhir/reference.ts';
import { Type } from '../platform/json-schema.ts';
import { encounterError } from './errors.ts';
import type { DateFilter } from './search-encounters.store.ts';

/** Of Encounter.status (R4, "EncounterStatus"). */
const STATUS_SYSTEM = 'http://hl7.org/fhir/encounter-status';
const MAX_COUNT = 100;
const DEFAULT_COUNT = 20;

export const EncounterSearchQuery = Type.Object({
  patient: Type.String({
    minLength: 1,
    description: 'Id of the patient whose encounters are searched, alone or as `Patient/<patient_id>`.',
  }),
  subject: Type.Optional(
    Type.String({ minLength: 1, description: 'The same as `patient`. Send one of them.' }),
  ),
  _id: Type.Optional(
    Type.String({
      minLength: 1,
      description: 'Id of one Encounter. It is found only if it belongs to this patient.',
    }),
  ),
  status: Type.Optional(
    Type.Unsafe<EncounterStatus>({
      type: 'string',
      enum: ENCOUNTER_STATUSES,
      description: `One FHIR encounter status, alone, as \`|finished\` or as \`${STATUS_SYSTEM}|finished\`.`,
    }),
  ),
  date: Type.Optional(
    Type.Array(Type.String(), {
      maxItems: 2,
      description:
        'FHIR date, alone or with the prefix `ge`, `le` or `eq`. Up to two dates, which must both match. A date without a zone is in the time zone of the facility.',
    }),
  ),
  _count: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_COUNT,
      default: DEFAULT_COUNT,
      description: 'Encounters on a page.',
    }),
  ),
  cursor: Type.Optional(
    Type.String({
      description: 'Part of the `next` link of the previous page. Follow that link as it is.',
    }),
  ),
  _format: FORMAT_PARAMETER,
});

/** All that a search knows; the purpose of use is asked for on other routes too. */
const PARAMETERS: ReadonlySet<string> = new Set([
  ...Object.keys(EncounterSearchQuery.properties),
  'purposeOfUse',
]);

/**
 * `subject` is another name of `patient`, and a status may be a token: `|finished` or `<system>|finished` (R4,
 * "Search", token). Throws for another system, and for a modifier: a server must not leave one out that it does not know
 * (R4, "Search", modifiers).
 */
export function normaliseEncounterQuery(query: Readonly<Record<string, unknown>>): Record<string, unknown> {
  for (const name of Object.keys(query)) {
    const [parameter = '', modifier] = name.split(':');
    if (modifier !== undefined && PARAMETERS.has(parameter)) throw encounterError('modifier', { parameter });
  }
  const { patient = query.subject, status } = query;
  const named = patient === undefined ? {} : { patient };
  if (typeof status !== 'string' || !status.includes('|')) return { ...query, ...named };
  const bar = status.indexOf('|');
  if (bar > 0 && status.slice(0, bar) !== STATUS_SYSTEM)
    throw encounterError('bad_status_system', { system: STATUS_SYSTEM });
  return { ...query, ...named, status: status.slice(bar + 1) };
}

/** A search as it was understood. */
export interface EncounterSearch {
  /** Lower case; may be no UUID, and then names no patient. */
  patientId: string;
  /** Of the one Encounter that is looked for; may be no UUID, and then names none. */
  id: string | undefined;
  status: EncounterStatus | undefined;
  /** `date` as written. */
  dates: readonly string[];
  date: DateFilter | undefined;
  count: number;
  cursor: string | undefined;
  format: string | undefined;
}

/** Throws for a date that is none, two patients and several ids. `timeZone` is the facility's. */
export function parseEncounterSearch(
  query: Static<typeof EncounterSearchQuery>,
  timeZone: string,
): EncounterSearch {
  const dates = query.date ?? [];
  const patientId = patientIdIn(query.patient);
  if (query.subject !== undefined && patientIdIn(query.subject) !== patientId)
    throw encounterError('two_patients');
  if (query._id?.includes(',')) throw encounterError('several_ids');
  return {
    patientId,
    id: query._id?.toLowerCase(),
    status: query.status,
    dates,
    date: dates.length === 0 ? undefined : dates.map((text) => parseDateFilter(text, timeZone)).reduce(both),
    count: query._count ?? DEFAULT_COUNT,
    cursor: query.cursor,
    format: query._format,
  };
}

/**
 * One `date` value: `ge X` ends at or after X begins, `le X` starts before X ends, `eq X` and a bare X both.
 * Throws for another prefix or something that is no date.
 */
export function parseDateFilter(text: string, timeZone: string): DateFilter {
  const [, prefix = '', value = ''] = /^([a-z]{2})?(.*)$/s.exec(text) ?? [];
  if (!['', 'eq', 'ge', 'le'].includes(prefix)) throw encounterError('bad_date', { part: 'prefix' });
  const date = parseDateTime(value);
  if (date === undefined) throw encounterError('bad_date', { part: 'date' });
  const { start, end } = date.span(timeZone);
  if (prefix === 'ge') return { endsFrom: start };
  return prefix === 'le' ? { startsBefore: end } : { endsFrom: start, startsBefore: end };
}

/** What both filters let through. */
function both(a: DateFilter, b: DateFilter): DateFilter {
  const endsFrom = pick(a.endsFrom, b.endsFrom, (x, y) => x > y);
  const startsBefore = pick(a.startsBefore, b.startsBefore, (x, y) => x < y);
  return { ...(endsFrom && { endsFrom }), ...(startsBefore && { startsBefore }) };
}

function pick(
  a: Date | undefined,
  b: Date | undefined,
  wins: (a: Date, b: Date) => boolean,
): Date | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return wins(a, b) ? a : b;
}

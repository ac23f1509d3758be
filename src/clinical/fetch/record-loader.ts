/**
 * Loads records with their parts in bounded memory (docs/adr/0042).
 *
 * Records that are asked for together share a round trip while each is small, as nearly all are. A larger one is
 * left out of that answer and loaded again by itself. One that is too large even so comes without what its source
 * can leave out; past that it is refused.
 * Contract: FETCH-23, FETCH-24.
 */
import { askedRows } from '../../platform/db/by-key.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { createOrganisationBatcher } from '../../tenancy/organisations/organisation-batch.ts';
import type { RecordName } from '../../tenancy/record-names.ts';
import type { FacilityScope } from '../../tenancy/scope.ts';
import { type Field, readRow, rowSql } from '../content/document.ts';
import { clinicalError } from '../errors.ts';
import { openObservation } from '../kept/fill-observation.fhir.ts';
import { OBSERVATIONS, type ObservationList, observationsSql } from '../kept/observation-texts.store.ts';
import {
  type InPlaceOfText,
  type PackedText,
  selectTexts,
  textStatements,
} from '../kept/packed-texts.store.ts';

/** What one caller asks for. */
export interface RecordKey {
  scope: FacilityScope;
  id: string;
}

export interface Loaded<RecordType> {
  patientId: string;
  /** Purposes that the patient refuses. */
  refusedPurposes: readonly string[];
  version: number;
  record: RecordType;
  /** It was too large, and comes without what its source can leave out. */
  isLesser?: true;
}

/** Bytes of one record at most, as SQL writes it, in a round trip that other records share. */
const SHARED_BYTES = 1024 ** 2;
/**
 * The same by itself. A document of a report takes up to 14 MB in base64; an answer is about twice as long as its record.
 */
const ALONE_BYTES = 24 * 1024 ** 2;

/** Records in one load, and loads under way, at most. */
const MAX_KEYS = 100;
const MAX_IN_FLIGHT = 2;

export interface RecordSource<Key extends RecordKey> {
  /** Of the prepared statement. */
  name: string;
  /** What it is called in an error: `The laboratory order`. */
  title: (key: Key) => RecordName;
  /** Members of a record, whose table is aliased `alias` and has columns patient_id and version. */
  fields: readonly Field[];
  alias: string;
  /** `fields` without what may be left out of a record that is too large. */
  lesserFields?: readonly Field[];
  /** Its observations, as they are kept: member `observations` of the record, and `kept` in the SQL of `fields`. */
  observations: ObservationList;
  /** SQL of bytes that `fields` take at least; what is too large by it is not even written. */
  leastBytes?: string;
  /** What a record has where the database has nothing. */
  empty: object;
  /** Joins the record and its `patient p`, both of the organisation `$1`, to `asked`: {@link ASKED} and `arrays`. */
  joins: string;
  /** More columns of `asked`, with a value for each key. */
  arrays?: Readonly<Record<string, { type: string; value: (key: Key) => unknown }>>;
}

interface LoadedRow {
  place: number;
  patient_id: string;
  refused_purposes: string[];
  version: number;
  /** Null for a record that is larger than was asked for. */
  document: string | null;
  /** Observations, as {@link observationsSql} gives them. */
  packed: string | null;
}

/** What one statement loads of each record. */
interface LoadedMembers {
  /** Of the prepared statement. */
  name: string;
  fields: readonly Field[];
  leastBytes: string;
}

/** Whom a record is about. */
export type RecordPatient = Pick<Loaded<never>, 'patientId' | 'refusedPurposes'>;

interface TooLarge {
  /** Undefined where PostgreSQL could not say it. */
  about: RecordPatient | undefined;
}
type Found<RecordType> = Loaded<RecordType> | TooLarge | undefined;

function isTooLarge<RecordType>(found: Found<RecordType>): found is TooLarge {
  return found !== undefined && 'about' in found;
}

/** Beside the error and not in it: a log would have it. */
const patientsOfErrors = new WeakMap<object, RecordPatient>();

/** Whom a record that was refused as too large is about; undefined for every other failure. */
export function patientOfTooLarge(error: unknown): RecordPatient | undefined {
  return error instanceof Error ? patientsOfErrors.get(error) : undefined;
}

/** That a record is too large is told only once its patient is known to allow the purpose (ACC-14, LOG-4). */
export function onceAuthorised(
  authorise: (patient: RecordPatient) => Promise<void>,
): (error: unknown) => Promise<never> {
  return async (error) => {
    const patient = patientOfTooLarge(error);
    if (patient !== undefined) await authorise(patient);
    throw error;
  };
}

/** Undefined: no such record in the scope. 422 when it is too large for one answer: {@link patientOfTooLarge}. */
export function createRecordLoader<Key extends RecordKey, RecordType>(
  db: Queryable,
  source: RecordSource<Key>,
): (key: Key) => Promise<Loaded<RecordType> | undefined> {
  const { name, fields, lesserFields, leastBytes = '0' } = source;
  const whole = createLoad<Key, RecordType>(db, source, { name, fields, leastBytes });
  const lesser =
    lesserFields &&
    createLoad<Key, RecordType>(db, source, {
      name: `${name}-lesser`,
      fields: lesserFields,
      leastBytes: '0',
    });

  async function loadAlone(organisationId: string, key: Key): Promise<Loaded<RecordType> | undefined> {
    let about: RecordPatient | undefined;
    // Where none of the others could say whom it is about, the last one does: so few bytes are never written.
    for (const [load, maxBytes] of [
      [whole, ALONE_BYTES],
      [lesser, ALONE_BYTES],
      [whole, -1],
    ] as const) {
      if (load === undefined || (maxBytes < 0 && about !== undefined)) continue;
      const [found] = await load(organisationId, [key], maxBytes);
      if (!isTooLarge(found)) return found && load === lesser ? { ...found, isLesser: true } : found;
      about ??= found.about;
    }
    const maxMiB = ALONE_BYTES / 1024 ** 2;
    const error = clinicalError('record_too_large', { record: source.title(key), maxMiB });
    if (about !== undefined) patientsOfErrors.set(error, about);
    throw error;
  }

  const shared = createOrganisationBatcher<Key, Found<RecordType>>({
    load: (organisationId, keys) => whole(organisationId, keys, SHARED_BYTES),
    maxKeys: MAX_KEYS,
    maxInFlight: MAX_IN_FLIGHT,
  });
  const alone = createOrganisationBatcher<Key, Loaded<RecordType> | undefined>({
    load: (organisationId, keys) => Promise.all(keys.map((key) => loadAlone(organisationId, key))),
    maxKeys: 1,
    maxInFlight: MAX_IN_FLIGHT,
  });
  return async (key) => {
    const found = await shared(key);
    return isTooLarge(found) ? alone(key) : found;
  };
}

/** One statement: records of one organisation, none larger than `maxBytes`; another where a kept text does not count. */
function createLoad<Key extends RecordKey, RecordType>(
  db: Queryable,
  source: RecordSource<Key>,
  members: LoadedMembers,
): (organisationId: string, keys: readonly Key[], maxBytes: number) => Promise<Found<RecordType>[]> {
  const { empty, arrays = {} } = source;
  const asked = Object.values({ ...ASKED, ...arrays });
  const statements = textStatements(members.name, (otherwise) => loadSql(source, members, otherwise));

  return async (organisationId, keys, maxBytes) => {
    const columns = asked.map(({ value }) => keys.map((key) => value(key)));
    const selection = {
      packing: OBSERVATIONS,
      statements,
      values: [organisationId, maxBytes, ...columns],
      keys,
    } as const;
    const found = new Array<Found<RecordType>>(keys.length).fill(undefined);
    try {
      await selectTexts<LoadedRow, PackedText<'orderId'>>(db, selection, (row, texts) => {
        found[row.place - 1] = toFound(row, (document) => ({
          ...empty,
          ...readRow(members.fields, document),
          observations: texts.map(({ id, orderId, text }) => openObservation(id, orderId, text)),
        }));
      });
    } catch (error) {
      // One of the records is too large. Loading each by itself tells which.
      if (isBeyondPostgres(error)) return found.fill({ about: undefined });
      throw error;
    }
    return found;
  };
}

function loadSql<Key extends RecordKey>(
  { alias, joins, observations, arrays = {} }: RecordSource<Key>,
  { fields, leastBytes }: LoadedMembers,
  otherwise: InPlaceOfText,
): string {
  const columns = Object.entries({ ...ASKED, ...arrays }).map(([name, { type }]) => [name, type] as const);
  return `
    select asked.place::int as place, ${alias}.patient_id, p.refused_purposes, ${alias}.version,
      case when written.bytes <= $2 then written.text end as document,
      case when written.bytes <= $2 then written.packed end as packed
    from ${askedRows(Object.fromEntries(columns), 3)}
    ${joins}
    left join lateral (
      select made.*, octet_length(made.text) + coalesce(octet_length(made.packed), 0) as bytes
      from (
        select ${rowSql(fields)}::text as text, kept.packed
        from (
          ${observationsSql(observations, otherwise)}
          offset 0
        ) kept
        where ${leastBytes} <= $2
        -- Not to be merged into the query, which would write the record for each time that it is named.
        offset 0
      ) made
      offset 0
    ) written on true`;
}

/** SQLSTATE program_limit_exceeded: a record is more than PostgreSQL holds in one value. */
function isBeyondPostgres(error: unknown): boolean {
  return (error as { code?: unknown }).code === '54000';
}

/** Columns of `asked` that every record has, besides `place`. */
const ASKED = {
  facility_id: { type: 'uuid', value: ({ scope }: RecordKey): unknown => scope.facilityId },
  id: { type: 'uuid', value: ({ id }: RecordKey): unknown => id },
};

function toFound<RecordType>(row: LoadedRow, read: (document: unknown[]) => object): Found<RecordType> {
  const about = { patientId: row.patient_id, refusedPurposes: row.refused_purposes };
  if (row.document === null) return { about };
  return { ...about, version: row.version, record: read(JSON.parse(row.document)) as RecordType };
}

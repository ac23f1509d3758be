import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { useTestDatabase } from '../../test-support/database/database.ts';
import { insertEncounter, insertPatient } from '../../test-support/records/clinical-records.ts';
import { createPlace } from '../../test-support/records/place.ts';
import type { TimePosition } from '../clinical/fetch/patient-page.store.ts';
import { ENCOUNTER_STATUSES } from '../clinical/resources/encounter.fhir.ts';
import type { Statement } from '../platform/db/connection/database-client.ts';
import type { Queryable } from '../platform/db/database.ts';
import { createCursorCodec } from '../platform/http/cursor.ts';
import { openPage } from '../platform/http/paging.ts';
import { createFacility } from '../tenancy/organisations/facilities.ts';
import type { FacilityScope } from '../tenancy/scope.ts';
import { ENCOUNTER_MAPPING } from './encounter.fhir.ts';
import {
  createEncounterSearcher,
  type EncounterPage,
  type EncounterPageKey,
} from './search-encounters.store.ts';
import { parseEncounterSearch } from './search-parameters.ts';

const TIME_ZONE = 'America/New_York';
const cursors = createCursorCodec(randomBytes(32));

const database = await useTestDatabase();
const scope: FacilityScope = { ...(await createPlace(database.pool)), timeZone: TIME_ZONE };

interface Visit {
  id: string;
  status: (typeof ENCOUNTER_STATUSES)[number];
  /** Milliseconds since 1970. */
  start: number | null;
  end: number | null;
}

const HOUR = 3_600_000;
const EPOCH = Date.parse('2024-11-02T00:00:00Z');
// Three days about the day on which New York leaves daylight saving time, on the hour, and often where a day
// of New York begins: so visits touch the borders of days, and each other.
const hours = fc.oneof(fc.integer({ min: 0, max: 80 }), fc.constantFrom(4, 28, 30, 53, 77));
const visit: fc.Arbitrary<Visit> = fc
  .record({
    id: fc.uuid(),
    status: fc.constantFrom(...ENCOUNTER_STATUSES),
    start: fc.option(hours, { freq: 6 }),
    end: fc.option(hours, { freq: 3 }),
  })
  .map(({ id, status, start, end }) => {
    const last = start === null || end === null ? end : Math.max(start, end);
    return { id, status, start: atHour(start), end: atHour(last) };
  });
const visits = fc.uniqueArray(visit, { minLength: 0, maxLength: 25, selector: ({ id }) => id });

function atHour(hour: number | null): number | null {
  return hour === null ? null : EPOCH + hour * HOUR;
}

const iso = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString());

async function insert(list: readonly Visit[]): Promise<string> {
  const patientId = await insertPatient(database.pool, scope);
  for (const { id, status, start, end } of list)
    await insertEncounter(database.pool, scope, { patientId, id, status, start: iso(start), end: iso(end) });
  return patientId;
}

/** Newest first, by what the contract says and nothing else. */
function ordered(list: readonly Visit[]): Visit[] {
  const start = (one: Visit) => one.start ?? Number.NEGATIVE_INFINITY;
  return list.toSorted((a, b) =>
    start(a) === start(b) ? (a.id < b.id ? 1 : -1) : start(a) < start(b) ? 1 : -1,
  );
}

async function all(
  { limit, ...key }: Omit<EncounterPageKey, 'scope' | 'after' | 'purposeOfUse'>,
  search = createEncounterSearcher(database.pool),
): Promise<string[]> {
  const ids: string[] = [];
  let cursor: string | undefined;
  for (let pages = 0; pages < 60; pages += 1) {
    const page = openPage<TimePosition>(cursors, { limit, cursor }, ['encounters']);
    const found = await search({ ...key, scope, purposeOfUse: 'TREATMENT', ...page.slice });
    assert.ok(found !== undefined);
    const { items, nextCursor } = page.close(found.encounters, ({ position }) => position);
    ids.push(...items.map(({ encounter }) => encounter.id));
    if (nextCursor === null) return ids;
    assert.equal(items.length, limit, 'only the last page may be short');
    cursor = nextCursor;
  }
  throw new Error('the pages never ended');
}

test('pages of any size give every encounter once, newest first, also with equal start times [ENC-22, ENC-24]', async () => {
  await fc.assert(
    fc.asyncProperty(visits, fc.integer({ min: 1, max: 7 }), async (list, count) => {
      const patientId = await insert(list);
      const ids = await all({ patientId, status: undefined, date: undefined, limit: count });
      assert.deepEqual(
        ids,
        ordered(list).map(({ id }) => id),
      );
    }),
    { numRuns: 40 },
  );
});

// A day, a month or an hour, with its first millisecond and the first after it; New York is 4 hours behind
// until 06:00 UTC on 3 November 2024 and 5 hours behind after that.
const spans = [
  ['2024-11-02', '2024-11-02T04:00:00Z', '2024-11-03T04:00:00Z'],
  ['2024-11-03', '2024-11-03T04:00:00Z', '2024-11-04T05:00:00Z'],
  ['2024-11-04', '2024-11-04T05:00:00Z', '2024-11-05T05:00:00Z'],
  ['2024-11', '2024-11-01T04:00:00Z', '2024-12-01T05:00:00Z'],
  ['2023', '2023-01-01T05:00:00Z', '2024-01-01T05:00:00Z'],
  ['2024-11-03T06:00:00Z', '2024-11-03T06:00:00Z', '2024-11-03T06:00:01Z'],
  ['2024-11-03T06:00:00+02:00', '2024-11-03T04:00:00Z', '2024-11-03T04:00:01Z'],
  ['2024-11-03T06:00Z', '2024-11-03T06:00:00Z', '2024-11-03T06:01:00Z'],
  ['0001', '0001-01-01T00:00:00Z', '0002-01-01T00:00:00Z'],
  ['9999-12-31', '9999-12-31T05:00:00Z', '+010000-01-01T05:00:00Z'],
] as const;
const dateValue = fc.record({
  prefix: fc.constantFrom('', 'eq', 'ge', 'le'),
  span: fc.constantFrom(...spans),
});
const dateValues = fc.array(dateValue, { minLength: 1, maxLength: 2 });

/** docs/encounters.md, "Dates", word for word; ends are instants here. Dates: test/encounter-periods.test.ts. */
function touches(
  { start, end }: Visit,
  { prefix, span: [, first, next] }: { prefix: string; span: (typeof spans)[number] },
) {
  if (start === null && end === null) return false;
  const endsAtOrAfter = (end ?? Number.POSITIVE_INFINITY) >= Date.parse(first);
  const startsBefore = (start ?? Number.NEGATIVE_INFINITY) < Date.parse(next);
  if (prefix === 'ge') return endsAtOrAfter;
  return prefix === 'le' ? startsBefore : endsAtOrAfter && startsBefore;
}

test('status and date let through what the rules say, whatever the page size [ENC-17]', async () => {
  const statuses = fc.option(fc.constantFrom(...ENCOUNTER_STATUSES), { nil: undefined });
  const filters = fc.array(fc.tuple(dateValues, statuses, fc.integer({ min: 1, max: 12 })), {
    minLength: 10,
    maxLength: 20,
  });
  await fc.assert(
    fc.asyncProperty(visits, filters, async (list, searches) => {
      const patientId = await insert(list);
      const search = createEncounterSearcher(database.pool);
      const found = await Promise.all(
        searches.map(([dates, status, count]) => {
          const date = dates.map(({ prefix, span }) => prefix + span[0]);
          const parsed = parseEncounterSearch({ patient: patientId, date }, TIME_ZONE);
          return all({ patientId, status, date: parsed.date, limit: count }, search);
        }),
      );
      const expected = searches.map(([dates, status]) =>
        ordered(list)
          .filter((one) => status === undefined || one.status === status)
          .filter((one) => dates.every((value) => touches(one, value)))
          .map(({ id }) => id),
      );
      assert.deepEqual(found, expected);
    }),
    { numRuns: 60 },
  );
});

test('start times that differ by a microsecond keep their order over pages [ENC-22]', async () => {
  const patientId = await insertPatient(database.pool, scope);
  const ids: string[] = [];
  for (const micro of ['123457', '123456', '123455', '123454'])
    ids.push(
      await insertEncounter(database.pool, scope, { patientId, start: `2024-01-01 10:00:00.${micro}+00` }),
    );
  assert.deepEqual(await all({ patientId, status: undefined, date: undefined, limit: 1 }), ids);
});

test('an unknown patient and one of another facility are nothing; a patient without encounters is an empty page', async () => {
  const search = createEncounterSearcher(database.pool);
  const facility = await createFacility(database.pool, {
    organisationId: scope.organisationId,
    name: 'Other',
  });
  const patientId = await insertPatient(database.pool, scope);
  const key = {
    purposeOfUse: 'TREATMENT' as const,
    status: undefined,
    date: undefined,
    after: undefined,
    limit: 20,
  };
  const pages = await Promise.all([
    search({ ...key, scope, patientId: randomUUID() }),
    search({ ...key, scope: { ...scope, facilityId: facility.id }, patientId }),
    search({ ...key, scope: { ...scope, organisationId: randomUUID() }, patientId }),
    search({ ...key, scope, patientId }),
  ]);
  assert.deepEqual(pages, [
    undefined,
    undefined,
    undefined,
    { refusedPurposes: [], replacedBy: null, encounters: [], isCut: false },
  ]);
});

/** A patient with Encounters that are kept as texts of so many bytes. */
async function insertSized(...sizes: number[]): Promise<string> {
  const patientId = await insertPatient(database.pool, scope);
  const ids: string[] = [];
  for (const _ of sizes) ids.push(await insertEncounter(database.pool, scope, { patientId }));
  await database.pool.query({
    text: `
      update encounter
      set rendered = repeat('x', bytes), rendered_version = version, rendered_mapping = $3
      from unnest($1::uuid[], $2::integer[]) sized (sized_id, bytes)
      where id = sized_id`,
    values: [ids, sizes, ENCOUNTER_MAPPING],
  });
  return patientId;
}

interface WatchedSearch {
  search: (patientId: string) => Promise<EncounterPage | undefined>;
  /** How many rows each statement held when it ended, which may be after the answer. */
  held: () => Promise<number[]>;
}

function watchSearch(): WatchedSearch {
  const statements: Promise<{ rows: object[] }>[] = [];
  const db = {
    query(statement: Statement<object>) {
      const answer = database.pool.query(statement);
      statements.push(answer);
      return answer;
    },
  } as unknown as Queryable;
  const search = createEncounterSearcher(db);
  const asked = { purposeOfUse: 'TREATMENT', status: undefined, date: undefined, after: undefined } as const;
  return {
    search: (patientId) => search({ ...asked, scope, patientId, limit: 101 }),
    held: async () => (await Promise.all(statements)).map(({ rows }) => rows.length),
  };
}

const cutOf = (page: EncounterPage | undefined) => [page?.encounters.length, page?.isCut];

test('pages of large Encounters that share a statement are answered one by one: no answer of PostgreSQL holds them together', async () => {
  const patientId = await insertSized(...Array<number>(3).fill(9 * 1024 ** 2));
  const { search, held } = watchSearch();
  const pages = await Promise.all([search(patientId), search(patientId), search(patientId)]);
  assert.deepEqual(
    pages.map(cutOf),
    pages.map(() => [2, true]),
  );
  assert.deepEqual(await held(), [0, 0]);
});

test('a hundred Encounters of the largest size that is small are a whole page of one statement; larger ones cut it [ENC-24]', async () => {
  // A hundredth of 16 MB is a little more.
  for (const [bytes, cut, statements] of [
    [167_772, [101, false], 1],
    [167_773, [100, true], 2],
  ] as const) {
    const patientId = await insertSized(...Array<number>(101).fill(bytes));
    const { search, held } = watchSearch();
    assert.deepEqual(cutOf(await search(patientId)), cut);
    assert.equal((await held()).length, statements);
  }
});

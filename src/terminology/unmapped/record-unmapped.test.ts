import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { useTestDatabase } from '../../../test-support/database/database.ts';
import { createPlace } from '../../../test-support/records/place.ts';
import { waitUntil } from '../../../test-support/wait-until.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { createCursorCodec } from '../../platform/http/cursor.ts';
import { OPERATOR } from '../../tenancy/administration/author.ts';
import type { FacilityScope } from '../../tenancy/scope.ts';
import { putMapEntry } from '../maps/change-maps.ts';
import type { GivenEntry } from '../maps/map-entry.ts';
import { listUnmappedCodes } from './list-unmapped.ts';
import { createUnmappedRecorder } from './record-unmapped.ts';

const LOINC = 'http://loinc.org';
const LAB = 'urn:lab';
const cursors = createCursorCodec(Buffer.alloc(32));
let scope: FacilityScope;
let now = new Date('2026-01-02T03:04:05Z');

const database = await useTestDatabase();
beforeEach(async () => {
  scope = await createPlace(database.pool);
});

const failed = (error: unknown) => assert.fail(String(error));
const recorder = (db: Queryable = database.pool, onError: (error: unknown) => void = failed) =>
  createUnmappedRecorder({ db, now: () => now, onError, flushAfterMs: 5 });

async function listed(limit = 100, cursor?: string) {
  const { items, nextCursor } = await listUnmappedCodes({ db: database.pool, cursors }, scope, {
    facilityId: scope.facilityId,
    limit,
    cursor,
  });
  return { codes: items.map(({ localCode, count }) => `${localCode} ${count}`), nextCursor, full: items };
}

const put = (facilityId: string | null, given: GivenEntry) =>
  putMapEntry(
    database.pool,
    { organisationId: scope.organisationId, facilityId },
    {
      given: { localSystem: LAB, targetSystem: LOINC, ...given },
      change: { now, author: OPERATOR },
    },
  );

describe('counting', () => {
  test('adds up over records, places and time [TERM-16]', async () => {
    const unmapped = recorder();
    const code = { system: LAB, code: 'X', display: 'An X' };
    unmapped.met(scope, 'lab.result', [code, code]);
    unmapped.met(scope, 'lab.order', [{ system: LAB, code: 'X' }]);
    await unmapped.flush();
    now = new Date('2026-01-03T00:00:00Z');
    unmapped.met(scope, 'lab.result', [{ system: LAB, code: 'X' }, { code: 'bare' }]);
    await unmapped.close();
    const { full } = await listed();
    assert.deepEqual(full, [
      {
        facilityId: scope.facilityId,
        localSystem: LAB,
        localCode: 'X',
        localDisplay: 'An X',
        count: 4,
        firstMetAt: new Date('2026-01-02T03:04:05Z'),
        lastMetAt: now,
        places: [
          { place: 'lab.result', count: 3 },
          { place: 'lab.order', count: 1 },
        ],
      },
      {
        facilityId: scope.facilityId,
        localSystem: '',
        localCode: 'bare',
        localDisplay: null,
        count: 1,
        firstMetAt: now,
        lastMetAt: now,
        places: [{ place: 'lab.result', count: 1 }],
      },
    ]);
  });

  test('is written by itself after a while, many reads in one statement', async () => {
    let statements = 0;
    const db: Queryable = {
      query: (statement) => {
        statements += 1;
        return database.pool.query(statement);
      },
    };
    const unmapped = recorder(db);
    for (let read = 0; read < 500; read += 1)
      unmapped.met(scope, 'lab.result', [{ system: LAB, code: `C${read % 7}` }]);
    await waitUntil(() => statements > 0, 'it is written by itself');
    await unmapped.close();
    assert.equal(statements, 1);
    assert.equal((await listed()).codes.length, 7);
  });

  test('is written with a statement for each organisation', async () => {
    const organisations: unknown[] = [];
    const db: Queryable = {
      query: (statement) => {
        organisations.push(statement.values?.[0]);
        return database.pool.query(statement);
      },
    };
    const unmapped = recorder(db);
    const other = await createPlace(database.pool);
    for (const one of [scope, other, scope]) unmapped.met(one, 'lab.result', [{ system: LAB, code: 'A' }]);
    await unmapped.close();
    assert.deepEqual(organisations, [scope.organisationId, other.organisationId]);
  });

  test('survives a database that fails for a while, and holds no more than it may', async () => {
    let broken = true;
    const errors: unknown[] = [];
    const db: Queryable = {
      query: (statement) => (broken ? Promise.reject(new Error('down')) : database.pool.query(statement)),
    };
    const unmapped = recorder(db, (error) => errors.push(error));
    const codes = Array.from({ length: 10_050 }, (_, number) => ({ system: LAB, code: `C${number}` }));
    unmapped.met(scope, 'lab.result', codes);
    await unmapped.flush();
    assert.ok(errors.length >= 1);
    broken = false;
    await unmapped.close();
    const { rows } = await database.pool.query({
      text: 'select count(*)::int as codes, max(met_count)::int as most from terminology_unmapped where organisation_id = $1',
      values: [scope.organisationId],
    });
    assert.deepEqual(rows, [{ codes: 10_000, most: 1 }]);
  });

  test('leaves out what is no code', async () => {
    const unmapped = recorder();
    unmapped.met(scope, 'lab.result', [
      { system: LAB },
      { code: 'x'.repeat(201) },
      { code: '検'.repeat(67) },
      { system: 'x'.repeat(501), code: 'A' },
      { system: '検'.repeat(167), code: 'A' },
    ]);
    await unmapped.close();
    assert.deepEqual((await listed()).codes, []);
  });
});

describe('the list', () => {
  async function meet(counts: Record<string, number>) {
    const unmapped = recorder();
    for (const [code, count] of Object.entries(counts))
      for (let times = 0; times < count; times += 1)
        unmapped.met(scope, 'lab.result', [{ system: LAB, code }]);
    await unmapped.close();
  }

  test('has the most frequent first, page by page [TERM-16]', async () => {
    await meet({ A: 1, B: 3, C: 2, D: 3, E: 1 });
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await listed(2, cursor);
      assert.ok(page.codes.length <= 2);
      seen.push(...page.codes);
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
    assert.deepEqual(seen, ['B 3', 'D 3', 'C 2', 'A 1', 'E 1']);
  });

  test('loses a code once a map covers it, or says that it has no counterpart', async () => {
    await meet({ A: 3, B: 2, C: 1 });
    await put(null, { localCode: 'A', targetCode: '718-7' });
    await put(scope.facilityId, { localCode: 'B', equivalence: 'unmatched' });
    assert.deepEqual((await listed()).codes, ['C 1']);
  });

  test('keeps a code whose map gives nothing to send', async () => {
    await meet({ A: 1 });
    await put(null, { localCode: 'A', targetCode: '718-7', equivalence: 'relatedto' });
    assert.deepEqual((await listed()).codes, ['A 1']);
  });

  test("keeps a code whose facility overrides the organisation's map with nothing to send", async () => {
    await meet({ A: 1 });
    await put(null, { localCode: 'A', targetCode: '718-7' });
    assert.deepEqual((await listed()).codes, []);
    await put(scope.facilityId, { localCode: 'A', targetCode: '718-7', equivalence: 'relatedto' });
    assert.deepEqual((await listed()).codes, ['A 1']);
  });
});

/** What a dry run of an import of maps tells of each entry. */
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { useTestDatabase } from '../../../test-support/database/database.ts';
import { OPERATOR } from '../../tenancy/administration/author.ts';
import { createFacility, createOrganisation } from '../../tenancy/organisations/facilities.ts';
import { listEntries } from '../maps/list-maps.store.ts';
import type { MapScope } from '../maps/map.store.ts';
import type { GivenEntry } from '../maps/map-entry.ts';
import { importMaps } from './import-maps.ts';
import type { ImportRow } from './import-row.ts';
import { CHANGES_AT_MOST } from './preview-changes.ts';

const LOINC = 'http://loinc.org';
const SNOMED = 'http://snomed.info/sct';
const now = new Date('2026-01-02T03:04:05Z');
let scope: MapScope;

const database = await useTestDatabase();
beforeEach(async () => {
  scope = await organisationMap();
});

async function organisationMap(): Promise<MapScope> {
  const { id } = await createOrganisation(database.pool, { name: 'Organisation' });
  return { organisationId: id, facilityId: null };
}

const entry = (localCode: string, more: GivenEntry = {}): GivenEntry => ({
  localSystem: 'urn:lab',
  localCode,
  targetSystem: LOINC,
  targetCode: '718-7',
  ...more,
});
const content = (more: GivenEntry = {}) => ({
  localDisplay: null,
  targetCode: '718-7',
  targetDisplay: null,
  equivalence: 'equivalent',
  comment: null,
  ...more,
});
const rowsOf = (given: GivenEntry[]): ImportRow[] =>
  given.map((one, index) => ({ line: index + 2, given: one }));
const take = (given: GivenEntry[], dryRun: boolean, into = scope) =>
  importMaps(database.pool, into, { rows: rowsOf(given), change: { now, author: OPERATOR }, dryRun });

/** What is kept, in the shape in which a preview says it. */
async function kept(of = scope) {
  const entries = await listEntries(database.pool, of, { filter: {}, limit: 100_000 });
  return entries.map(
    ({ id: _id, version: _version, updatedAt: _at, updatedBy: _by, facilityId: _f, ...one }) => one,
  );
}

test('a dry run tells each entry that it would add or change, with the old and the new values [TERM-23]', async () => {
  await take(
    [
      entry('SAME', { localDisplay: 'Same' }),
      entry('CODE'),
      entry('TEXTS', { localDisplay: 'old', targetDisplay: 'Old' }),
      entry('RELATION', { comment: 'first' }),
      entry('GONE', { equivalence: 'wider' }),
    ],
    false,
  );
  const file = [
    entry('SAME', { localDisplay: ' Same ' }),
    entry('CODE', { targetCode: '2345-7' }),
    entry('BAD', { targetCode: '718-8' }),
    entry('TEXTS', { localDisplay: 'new', targetDisplay: null }),
    entry('RELATION', { equivalence: 'narrower', comment: 'second' }),
    entry('GONE', { targetCode: null, equivalence: 'unmatched' }),
    entry('CODE', { targetSystem: SNOMED, targetCode: '38082009' }),
    entry('NEW', { localDisplay: 'New' }),
    entry('NEW', { targetCode: '2345-7' }),
  ];
  const stored = await kept();
  const report = await take(file, true);
  const of = (line: number, localCode: string, targetSystem = LOINC) => ({
    line,
    localSystem: 'urn:lab',
    localCode,
    targetSystem,
  });
  assert.deepEqual(report.changes, [
    { ...of(3, 'CODE'), kind: 'changed', before: content(), after: content({ targetCode: '2345-7' }) },
    {
      ...of(5, 'TEXTS'),
      kind: 'changed',
      before: content({ localDisplay: 'old', targetDisplay: 'Old' }),
      after: content({ localDisplay: 'new' }),
    },
    {
      ...of(6, 'RELATION'),
      kind: 'changed',
      before: content({ comment: 'first' }),
      after: content({ equivalence: 'narrower', comment: 'second' }),
    },
    {
      ...of(7, 'GONE'),
      kind: 'changed',
      before: content({ equivalence: 'wider' }),
      after: content({ targetCode: null, equivalence: 'unmatched' }),
    },
    { ...of(8, 'CODE', SNOMED), kind: 'created', before: null, after: content({ targetCode: '38082009' }) },
    { ...of(9, 'NEW'), kind: 'created', before: null, after: content({ localDisplay: 'New' }) },
  ]);
  assert.deepEqual([report.created, report.changed, report.unchanged, report.rejectedCount], [2, 4, 1, 2]);
  assert.deepEqual(await kept(), stored, 'nothing is kept');
});

test('what a dry run tells is what the import then does [TERM-23]', async () => {
  const systems = [LOINC, 'urn:oid:1.2.3', SNOMED];
  const given = (codes: string[], version: number) =>
    codes.flatMap((code, at) =>
      systems.map((targetSystem, which) =>
        entry(code, {
          targetSystem,
          targetCode: (at + version) % 3 === which ? '2345-7' : '718-7',
          comment: at % 2 === 0 ? null : `comment ${version}`,
        }),
      ),
    );
  const codes = Array.from({ length: 40 }, (_, at) => `C${at}`);
  await take(given(codes.slice(0, 25), 1), false);
  const before = await kept();
  const file = given(codes.slice(10), 2);
  const { changes = [], preview: _preview, ...counts } = await take(file, true);
  const { created, changed } = counts;
  assert.deepEqual(await take(file, false), counts);
  assert.ok(created > 0 && changed > 0 && counts.unchanged > 0);
  assert.deepEqual(
    [
      changes.filter(({ kind }) => kind === 'created').length,
      changes.filter(({ kind }) => kind === 'changed').length,
    ],
    [created, changed],
  );
  const after = await kept();
  const find = (entries: typeof after, key: GivenEntry) => {
    const found = entries.find(
      (one) => one.localCode === key.localCode && one.targetSystem === key.targetSystem,
    );
    if (found === undefined) return null;
    const { localSystem: _system, localCode: _code, targetSystem: _target, ...values } = found;
    return values;
  };
  for (const change of changes)
    assert.deepEqual([change.before, change.after], [find(before, change), find(after, change)]);
});

test('the first 200 of each kind are told, and all are counted [TERM-23]', async () => {
  const old = Array.from({ length: 1_300 }, (_, at) => entry(`OLD${at}`));
  await take(old, false);
  const file = [
    ...Array.from({ length: 2_500 }, (_, at) => entry(`NEW${at}`)),
    ...old.map((one) => ({ ...one, targetCode: '2345-7' })),
  ];
  const { changes = [], created, changed } = await take(file, true);
  assert.deepEqual([created, changed], [2_500, 1_300]);
  assert.equal(CHANGES_AT_MOST, 200);
  assert.deepEqual(
    changes.map(({ localCode }) => localCode),
    [
      ...Array.from({ length: 200 }, (_, at) => `NEW${at}`),
      ...Array.from({ length: 200 }, (_, at) => `OLD${at}`),
    ],
  );
});

test('a dry run tells no value of another organisation, level or facility [TERM-23]', async () => {
  const other = await organisationMap();
  const facilityOf = async () => {
    const { organisationId } = scope;
    return {
      organisationId,
      facilityId: (await createFacility(database.pool, { organisationId, name: 'F' })).id,
    };
  };
  const [here, sister] = [await facilityOf(), await facilityOf()];
  await take([entry('A', { comment: 'of another organisation' })], false, other);
  await take([entry('A', { comment: 'of a sister' })], false, sister);
  const file = [entry('A', { targetCode: '2345-7' })];
  const beforeOf = async (into: MapScope) =>
    (await take(file, true, into)).changes?.map(({ before }) => before);
  assert.deepEqual([await beforeOf(scope), await beforeOf(here)], [[null], [null]]);
  await take([entry('A', { comment: 'of the organisation' })], false);
  assert.deepEqual(await beforeOf(here), [null]);
  assert.deepEqual(await beforeOf(scope), [content({ comment: 'of the organisation' })]);
  assert.deepEqual(await beforeOf(sister), [content({ comment: 'of a sister' })]);
});

test('only a dry run tells changes', async () => {
  assert.ok(!('changes' in (await take([entry('A')], false))));
  assert.deepEqual((await take([entry('A')], true)).changes, []);
});

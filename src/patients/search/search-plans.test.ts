/** What a search of patients reads, also where the planner knows nothing of the tables yet: it must not grow with them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { needsPlainPostgres } from '../../../test-support/database/plain-postgres.ts';
import { useImportTest } from '../../../test-support/records/import.ts';
import { searchTerms } from '../../clinical/resources/search-key.ts';
import type { Statement } from '../../platform/db/connection/database-client.ts';
import type { Queryable } from '../../platform/db/database.ts';
import type { FacilityScope } from '../../tenancy/scope.ts';
import { createPatientSearcher } from './search-patients.store.ts';

const PLAIN = needsPlainPostgres('Citus shows plans, and what they read, otherwise');

/** Both are more than a search takes for few at first. */
const [SMALL, LARGE] = [1_200, 3_600];
const SEARCHES = [undefined, 'name00012', 'given', 'name0001 given', 'n17'];

const t = await useImportTest();
const owner = await t.database.connectOwner();
for (const table of ['patient', 'patient_registration', 'patient_search_key', 'patient_link'])
  await owner.query(`alter table ${table} set (autovacuum_enabled = false)`);

/** Patients with the numbers up to `to`, called `<word><number>` and `given`; each twentieth was replaced by the next one. */
async function fill(
  { organisationId, facilityId }: FacilityScope,
  from: number,
  to: number,
  { word = 'name', given = 'given' } = {},
): Promise<void> {
  const numbers = `generate_series(${from}, ${to - 1}) i`;
  const id = (number: string) => `md5('${word}' || ${number})::uuid`;
  const name = `'${word}' || lpad(i::text, 6, '0')`;
  await owner.query(`
    insert into patient (organisation_id, id, sort_name, content_digest)
    select '${organisationId}', ${id('i')}, ${name}, '' from ${numbers};
    insert into patient_registration (organisation_id, facility_id, patient_id)
    select '${organisationId}', '${facilityId}', ${id('i')} from ${numbers};
    insert into patient_search_key (organisation_id, patient_id, kind, key, sort_name)
    select '${organisationId}', ${id('i')}, kind, key, ${name}
    from ${numbers}
    cross join lateral (values ('name', ${name}), ('name', '${given}'), ('identifier', 'n' || i)) keys (kind, key)
    on conflict do nothing;
    insert into patient_search_key (organisation_id, patient_id, kind, key, sort_name)
    select '${organisationId}', ${id('i + 1')}, 'replaced', key, '${word}' || lpad((i + 1)::text, 6, '0')
    from ${numbers}
    cross join lateral (values (${name}), ('${given}')) keys (key)
    where i % 20 = 0
    on conflict do nothing;
    insert into patient_link (organisation_id, patient_id, position, other_id, type)
    select '${organisationId}', ${id('i')}, 0, ${id('i + 1')}, 'replaced-by' from ${numbers} where i % 20 = 0`);
}

/** Blocks that a search reads for its first page, and the names that it finds. */
async function searched(
  scope: FacilityScope,
  search: string | undefined,
  limit = 21,
): Promise<{ blocks: number; names: string[] }> {
  let blocks = 0;
  const db = {
    async query({ text, values = [], onRow }: Statement<object>) {
      // Patients without a text get theirs, once.
      if (text.includes('set rendered')) return owner.query({ text, values });
      const { rows } = await owner.query({ text: `explain (analyze, buffers, format json) ${text}`, values });
      const [{ Plan: plan }] = rows[0]['QUERY PLAN'];
      blocks += plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
      const found = await owner.query({ text, values });
      for (const row of found.rows) onRow?.(row);
      return found;
    },
  } as unknown as Queryable;
  const { patients: found } = await createPatientSearcher(db)(scope, {
    terms: search === undefined ? undefined : searchTerms(search),
    purposeOfUse: 'TREATMENT',
    after: undefined,
    limit,
  });
  return { blocks, names: found.map(({ position: [name] }) => name) };
}

async function blocksRead(): Promise<number[]> {
  const read: number[] = [];
  for (const search of SEARCHES) read.push((await searched(t.scope, search)).blocks);
  return read;
}

async function assertNoStatistics(): Promise<void> {
  const { rows } = await owner.query(`select from pg_stats where tablename like 'patient%'`);
  assert.equal(rows.length, 0, 'the tables have statistics');
}

test(`a search among ${LARGE} patients reads as much as one among ${SMALL}`, PLAIN, async () => {
  await fill(t.scope, 0, SMALL);
  const few = await blocksRead();
  await fill(t.scope, SMALL, LARGE);
  const many = await blocksRead();
  await assertNoStatistics();
  const read = `${few.join(', ')} blocks among ${SMALL}, ${many.join(', ')} among ${LARGE}`;
  assert.ok(Math.max(...few, ...many) < 6_000, read);
  // An index grows a level now and then.
  for (const [index, search] of SEARCHES.entries())
    assert.ok((many[index] ?? 0) < (few[index] ?? 0) * 1.4 + 50, `${search}: ${read}`);
});

test('a name that everybody has is read as far as a page goes', PLAIN, async () => {
  const scope = await t.createOrganisation();
  await fill(scope, 0, LARGE, { word: 'common', given: 'shared' });
  await assertNoStatistics();
  for (const search of ['shared', 's']) {
    const { blocks, names } = await searched(scope, search);
    assert.equal(names.length, 21, search);
    assert.ok(blocks < 600, `${search}: ${blocks} blocks`);
  }
});

test('a search reads no more where another facility of the organisation grows', PLAIN, async () => {
  const clinic = await t.createOrganisation();
  const hospital = await t.createFacility(clinic.organisationId);
  // Behind all names of the hospital.
  await fill(clinic, 0, SMALL, { word: 'zz', given: 'rare' });
  const first = (word: string) =>
    Array.from({ length: 21 }, (_, i) => `${word}${String(i).padStart(6, '0')}`);
  const searches: [scope: FacilityScope, search: string | undefined, names: string[]][] = [
    [clinic, undefined, first('zz')],
    [clinic, 'zz', first('zz')],
    [clinic, 'given', []],
    [clinic, 'n17', ['zz000017']],
    [hospital, undefined, first('name')],
    [hospital, 'rare', []],
    [hospital, 'given', first('name')],
  ];
  const read = async () => {
    const blocks: number[] = [];
    for (const [scope, search, names] of searches) {
      const found = await searched(scope, search);
      assert.deepEqual(found.names, names);
      blocks.push(found.blocks);
    }
    return blocks;
  };
  await fill(hospital, 0, 5_000);
  const among5000 = await read();
  await fill(hospital, 5_000, 20_000);
  const among20000 = await read();
  await assertNoStatistics();
  await owner.query('analyze patient, patient_registration, patient_search_key, patient_link');
  const withStatistics = await read();
  const all = `${among5000.join(', ')}; ${among20000.join(', ')}; with statistics ${withStatistics.join(', ')}`;
  for (const [index, [, search]] of searches.entries())
    for (const later of [among20000, withStatistics])
      assert.ok((later[index] ?? 0) < (among5000[index] ?? 0) * 1.4 + 50, `${search}: ${all}`);
  assert.ok(Math.max(...among5000, ...among20000, ...withStatistics) < 30_000, all);
});

test('a search finds everybody who has several names that start with the word [PAT-2]', PLAIN, async () => {
  const scope = await t.createOrganisation();
  // Fewer patients than are few at first, with more keys.
  await fill(scope, 0, 700, { word: 'twin', given: 'twin' });
  assert.equal((await searched(scope, 'twin', 800)).names.length, 700);
});

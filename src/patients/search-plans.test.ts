/** What a search of patients reads where the planner knows nothing of the tables yet: it must not grow with them. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { createImportTest, type ImportTest } from '../../test-support/records/import.ts';
import { searchTerms } from '../clinical/resources/search-key.ts';
import type { Queryable } from '../platform/db/database.ts';
import { searchPatientPage } from './search-patients.store.ts';

/** Both are more than a search collects before it walks the names in their order. */
const [SMALL, LARGE] = [1_200, 3_600];
const SEARCHES = [undefined, 'name00012', 'given', 'name0001 given', 'n17'];

let t: ImportTest;
let owner: pg.Client;
before(async () => {
  t = await createImportTest();
  owner = new pg.Client({ connectionString: t.database.url });
  await owner.connect();
  for (const table of ['patient', 'patient_registration', 'patient_search_key', 'patient_link'])
    await owner.query(`alter table ${table} set (autovacuum_enabled = false)`);
});
after(async () => {
  await owner.end();
  await t.database.drop();
});

/** Patients with the numbers up to `to`; each twentieth was replaced by the next one. */
async function fill(from: number, to: number): Promise<void> {
  const { organisationId, facilityId } = t.scope;
  const numbers = `generate_series(${from}, ${to - 1}) i`;
  const id = (number: string) => `md5('p' || ${number})::uuid`;
  const name = `'name' || lpad(i::text, 6, '0')`;
  await owner.query(`
    insert into patient (organisation_id, id, sort_name, content_digest)
    select '${organisationId}', ${id('i')}, ${name}, '' from ${numbers};
    insert into patient_registration (organisation_id, facility_id, patient_id)
    select '${organisationId}', '${facilityId}', ${id('i')} from ${numbers};
    insert into patient_search_key (organisation_id, patient_id, kind, key)
    select '${organisationId}', ${id('i')}, kind, key
    from ${numbers}
    cross join lateral (values ('name', ${name}), ('name', 'given'), ('identifier', 'n' || i)) keys (kind, key);
    insert into patient_link (organisation_id, patient_id, position, other_id, type)
    select '${organisationId}', ${id('i')}, 0, ${id('i + 1')}, 'replaced-by' from ${numbers} where i % 20 = 0`);
}

/** Blocks that each search reads. */
async function blocksRead(): Promise<number[]> {
  const read: number[] = [];
  const db = {
    async query({ text, values }: { text: string; values: unknown[] }) {
      const { rows } = await owner.query({ text: `explain (analyze, buffers, format json) ${text}`, values });
      const [{ Plan: plan }] = rows[0]['QUERY PLAN'];
      read.push(plan['Shared Hit Blocks'] + plan['Shared Read Blocks']);
      return { rows: [] };
    },
  } as unknown as Queryable;
  for (const search of SEARCHES)
    await searchPatientPage(db, t.scope, {
      terms: search === undefined ? undefined : searchTerms(search),
      purposeOfUse: 'TREATMENT',
      after: undefined,
      limit: 21,
    });
  return read;
}

test(`a search among ${LARGE} patients reads as much as one among ${SMALL}`, async () => {
  await fill(0, SMALL);
  const few = await blocksRead();
  await fill(SMALL, LARGE);
  const many = await blocksRead();
  const { rows } = await owner.query(`select from pg_stats where tablename like 'patient%'`);
  assert.equal(rows.length, 0, 'the tables have statistics');
  const read = `${few.join(', ')} blocks among ${SMALL}, ${many.join(', ')} among ${LARGE}`;
  assert.ok(Math.max(...few, ...many) < 6_000, read);
  // An index grows a level now and then.
  for (const [index, search] of SEARCHES.entries())
    assert.ok((many[index] ?? 0) < (few[index] ?? 0) * 1.4 + 50, `${search}: ${read}`);
});

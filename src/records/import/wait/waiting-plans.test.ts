/** Which index finds the records that wait, with statistics and before there are any (docs/adr/0110). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { needsPlainPostgres } from '../../../../test-support/database/plain-postgres.ts';
import { useImportTest } from '../../../../test-support/records/import.ts';
import type { Queryable } from '../../../platform/db/database.ts';
import { waitersFor } from './waiting.store.ts';

const PLAIN = needsPlainPostgres('Citus shows plans otherwise');

const FACILITIES = 40;
/** Records that wait at each facility; each waits for one of the names. */
const WAITS = 200;
const NAMES = 50;

const t = await useImportTest();
const owner = await t.database.connectOwner();
for (const table of ['facility', 'waiting_record', 'waiting_link'])
  await owner.query(`alter table ${table} set (autovacuum_enabled = false)`);
const { organisationId } = t.scope;
const waits = `facility f cross join generate_series(1, ${WAITS}) i`;
const name = (number: string) => `md5('name' || ${number})::uuid`;
await owner.query(`
    insert into facility (organisation_id, id, name, time_zone)
    select '${organisationId}', md5('facility' || i)::uuid, 'Facility', 'Africa/Lagos'
    from generate_series(2, ${FACILITIES}) i;
    insert into waiting_record
      (organisation_id, facility_id, resource_type, id, source_id, has_uuid, run_id, content, known, content_digest)
    select f.organisation_id, f.id, 'Observation', md5('o' || i)::uuid, md5('o' || i)::uuid, true, f.id, '{}', '{}', ''
    from ${waits};
    insert into waiting_link (organisation_id, facility_id, target, run_id, resource_type, id)
    select f.organisation_id, f.id, ${name(`i % ${NAMES}`)}, f.id, 'Observation', md5('o' || i)::uuid
    from ${waits}`);
const { rows } = await owner.query<{ name: string }>(
  `select ${name('i')} as name from generate_series(0, ${NAMES - 1}) i`,
);
const names = rows.map((row) => row.name);

interface Node {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  Plans?: Node[];
}

/** By which indexes the links are read by the query that `ask` makes. */
async function linksRead(ask: (db: Queryable) => Promise<unknown>): Promise<string[]> {
  const found: Node[] = [];
  const collect = (node: Node): void => {
    if (/^waiting_link/.test(node['Index Name'] ?? node['Relation Name'] ?? '')) found.push(node);
    node.Plans?.forEach(collect);
  };
  await ask({
    async query({ text, values }: { text: string; values: unknown[] }) {
      const { rows } = await owner.query({ text: `explain (format json) ${text}`, values });
      collect(rows[0]['QUERY PLAN'][0].Plan);
      return { rows: [] };
    },
  } as unknown as Queryable);
  return [...new Set(found.map((node) => node['Index Name'] ?? node['Node Type']))];
}

/** At one facility, nothing of the other facilities is read. */
async function requirePlan(): Promise<void> {
  assert.deepEqual(await linksRead((db) => waitersFor(db, t.scope, { names })), ['waiting_link_pkey']);
}

test(
  'records that wait are found by facility and by what they wait for, without statistics',
  PLAIN,
  async () => {
    const { rows } = await owner.query(`select from pg_stats where tablename like 'waiting%'`);
    assert.equal(rows.length, 0, 'the tables have statistics');
    await requirePlan();
  },
);

test(
  'records that wait are found by facility and by what they wait for, with statistics',
  PLAIN,
  async () => {
    await owner.query('analyze facility, waiting_record, waiting_link');
    await requirePlan();
  },
);

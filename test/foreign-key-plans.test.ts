/**
 * Foreign keys are checked row by row, by a plan that is kept. Before statistics exist (a first bulk load, which
 * may be one transaction) the planner may hold another index for as good as the primary key, and then every check
 * walks a whole facility. An index that a query by id could use is partial, on a condition that is always true
 * and that only the queries it is made for name.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { useTestDatabase } from '../test-support/database/database.ts';
import { needsPlainPostgres } from '../test-support/database/plain-postgres.ts';

const PLAIN = needsPlainPostgres('Citus shows plans otherwise, and keeps none for all parameters');

interface ReferencedKey {
  table: string;
  index: string;
  columns: string[];
  types: string[];
}

const database = await useTestDatabase();
const client = await database.connectOwner();

test(
  'every check of a foreign key finds its row by the primary key, without statistics too',
  PLAIN,
  async () => {
    const { rows } = await client.query<ReferencedKey>(`
    select c.relname::text as table, i.relname::text as index,
      array_agg(a.attname::text order by k.place) as columns,
      array_agg(format_type(a.atttypid, a.atttypmod) order by k.place) as types
    from pg_index x
    join pg_class c on c.oid = x.indrelid
    join pg_class i on i.oid = x.indexrelid
    cross join lateral unnest(x.indkey::int[]) with ordinality as k (attribute, place)
    join pg_attribute a on a.attrelid = c.oid and a.attnum = k.attribute
    where x.indisprimary
      and exists (select from pg_constraint f where f.contype = 'f' and f.confrelid = c.oid)
    group by 1, 2
    order by 1`);
    assert.ok(rows.length > 10);
    await client.query(
      'set plan_cache_mode = force_generic_plan; set enable_seqscan = off; set enable_bitmapscan = off',
    );
    for (const { table, index, columns, types } of rows) {
      const condition = columns.map((column, place) => `${column} = $${place + 1}`).join(' and ');
      await client.query(
        `prepare check_${table} (${types.join(', ')}) as select 1 from only ${table} x where ${condition} for key share of x`,
      );
      const plan = await client.query(
        `explain execute check_${table} (${columns.map(() => 'null').join(', ')})`,
      );
      const text = plan.rows.map((row) => row['QUERY PLAN']).join('\n');
      assert.match(text, new RegExp(`using ${index} `), table);
    }
  },
);

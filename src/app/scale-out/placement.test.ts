/** The schema can be distributed by organisation: every table has its place, and its keys allow it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { useTestDatabase } from '../../../test-support/database/database.ts';
import {
  CO_LOCATED_WITH,
  DISTRIBUTED_TABLES,
  DISTRIBUTION_COLUMN,
  LOCAL_TABLES,
  REFERENCE_TABLES,
} from './placement.ts';

interface Key {
  table: string;
  name: string;
  /** Names of columns; null for an expression. */
  columns: (string | null)[];
}

interface ForeignKey extends Key {
  to: string;
  toColumns: string[];
}

const distributed: ReadonlySet<string> = new Set(DISTRIBUTED_TABLES);
const references: ReadonlySet<string> = new Set(REFERENCE_TABLES);
const placed = [...REFERENCE_TABLES, ...DISTRIBUTED_TABLES];

const database = await useTestDatabase();

test('every table of the schema stands in exactly one list of the placement', async () => {
  const { rows } = await database.pool.query<{ name: string }>(
    `select relname::text as name
     from pg_class
     where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition`,
  );
  const listed = [...placed, ...Object.keys(LOCAL_TABLES)];
  assert.deepEqual(listed.sort(), rows.map(({ name }) => name).sort());
});

test('the table that others are co-located with comes first', () => {
  assert.equal(DISTRIBUTED_TABLES[0], CO_LOCATED_WITH);
});

test('a distributed table has the column that distributes it; a local table does not', async () => {
  const { rows } = await database.pool.query<{ name: string; type: string; required: boolean }>(
    `select t.relname::text as name, format_type(a.atttypid, null) as type, a.attnotnull as required
     from pg_class t
     join pg_attribute a on a.attrelid = t.oid and a.attname = $1 and not a.attisdropped
     where t.relnamespace = 'public'::regnamespace and t.relkind in ('r', 'p') and not t.relispartition`,
    [DISTRIBUTION_COLUMN],
  );
  const withColumn = new Map(rows.map(({ name, ...column }) => [name, column]));
  for (const name of DISTRIBUTED_TABLES)
    assert.deepEqual(withColumn.get(name), { type: 'uuid', required: true }, name);
  for (const name of Object.keys(LOCAL_TABLES)) assert.equal(withColumn.has(name), false, name);
});

test('every tenant table begins its keys and unique indexes with the organisation [ACC-22]', async () => {
  const keys = await readUniqueIndexes();
  const primary = new Set(keys.filter((key) => key.primary).map(({ table }) => table));
  assert.deepEqual(
    DISTRIBUTED_TABLES.filter((table) => !primary.has(table)),
    [],
    'every tenant table has a primary key',
  );
  const faults = keys.filter(
    ({ table, columns }) => distributed.has(table) && columns[0] !== DISTRIBUTION_COLUMN,
  );
  assert.deepEqual(faults, []);
});

test('every foreign key between tenant tables begins with the organisation on both sides [ACC-22]', async () => {
  const faults = (await readForeignKeys()).filter(
    ({ table, to, columns, toColumns }) =>
      distributed.has(table) &&
      distributed.has(to) &&
      (columns[0] !== DISTRIBUTION_COLUMN || toColumns[0] !== DISTRIBUTION_COLUMN),
  );
  assert.deepEqual(faults, []);
});

test('foreign keys lead to tables that are placed before, and never from a local table or into one', async () => {
  const keys = await readForeignKeys();
  assert.ok(keys.length > 50, 'the keys are read');
  const place = new Map<string, number>(placed.map((name, index) => [name, index]));
  const faults = keys.filter(({ table, to }) => {
    const [from, target] = [place.get(table), place.get(to)];
    if (from === undefined || target === undefined || target > from) return true;
    return references.has(table) && !references.has(to);
  });
  assert.deepEqual(faults, []);
});

test('no function of the schema hides statements from the check', async () => {
  const { rows } = await database.pool.query<{ name: string }>(
    `select proname::text as name
     from pg_proc p
     where pronamespace = 'public'::regnamespace
       and not exists (select from pg_depend where objid = p.oid and deptype = 'e')
     order by proname`,
  );
  assert.deepEqual(rows, []);
});

async function readUniqueIndexes(): Promise<(Key & { primary: boolean })[]> {
  const { rows } = await database.pool.query<Key & { primary: boolean }>(
    `select t.relname::text as table, n.relname::text as name, i.indisprimary as primary,
       (select array_agg(a.attname::text order by k.place)
        from unnest(i.indkey::smallint[]) with ordinality as k (number, place)
        left join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.number and k.number > 0
        where k.place <= i.indnkeyatts) as columns
     from pg_index i
     join pg_class t on t.oid = i.indrelid
     join pg_class n on n.oid = i.indexrelid
     where t.relnamespace = 'public'::regnamespace and not t.relispartition and (i.indisunique or i.indisexclusion)`,
  );
  return rows;
}

async function readForeignKeys(): Promise<ForeignKey[]> {
  const { rows } = await database.pool.query<ForeignKey>(
    `select t.relname::text as table, c.conname::text as name,
       (select array_agg(a.attname::text order by k.place)
        from unnest(c.conkey) with ordinality as k (number, place)
        join pg_attribute a on a.attrelid = c.conrelid and a.attnum = k.number) as columns,
       f.relname::text as to,
       (select array_agg(a.attname::text order by k.place)
        from unnest(c.confkey) with ordinality as k (number, place)
        join pg_attribute a on a.attrelid = c.confrelid and a.attnum = k.number) as "toColumns"
     from pg_constraint c
     join pg_class t on t.oid = c.conrelid
     join pg_class f on f.oid = c.confrelid
     where t.relnamespace = 'public'::regnamespace and not t.relispartition and c.contype = 'f'`,
  );
  return rows;
}

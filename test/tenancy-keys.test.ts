/** The schema can be distributed by organisation: the organisation leads every key of every tenant table. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createTestDatabase, type TestDatabase } from '../test-support/database.ts';

/** Tables that name an organisation and are the same on every node, each with its reason. */
const ON_EVERY_NODE: Readonly<Record<string, string>> = {
  account_directory: 'It tells the organisation of a user id, which sign-in does not know yet.',
  exchange_connection_directory:
    'It tells the organisation of a connection, which a callback does not know yet.',
  publish_target: 'A target may be for all organisations.',
};

interface Key {
  table: string;
  name: string;
  columns: string[];
  /** Of a foreign key: the table and the columns that it leads to. */
  to: string | null;
  toColumns: string[] | null;
}

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.drop());

test('every tenant table begins its keys with the organisation [ACC-22]', async () => {
  const tenantTables = await readTenantTables();
  assert.ok(tenantTables.size > 20, 'the tables are read');
  const keys = (await readKeys()).filter(({ table }) => tenantTables.has(table));
  const tenantFirst = (columns: string[] | null) => columns?.[0] === 'organisation_id';
  const faults = keys.filter(({ columns, to, toColumns }) => {
    // What every node has can be referred to by any key.
    if (to !== null && !tenantTables.has(to)) return false;
    return !tenantFirst(columns) || (to !== null && !tenantFirst(toColumns));
  });
  assert.deepEqual(faults, []);
});

async function readTenantTables(): Promise<Set<string>> {
  const { rows } = await database.pool.query<{ name: string }>(
    `select t.relname::text as name
     from pg_class t
     join pg_attribute a on a.attrelid = t.oid and a.attname = 'organisation_id' and not a.attisdropped
     where t.relnamespace = 'public'::regnamespace and t.relkind in ('r', 'p') and not t.relispartition`,
  );
  return new Set(rows.map(({ name }) => name).filter((name) => !(name in ON_EVERY_NODE)));
}

/** Primary, unique and foreign keys. */
async function readKeys(): Promise<Key[]> {
  const { rows } = await database.pool.query<Key>(
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
     left join pg_class f on f.oid = c.confrelid
     where t.relnamespace = 'public'::regnamespace and not t.relispartition and c.contype in ('p', 'u', 'f')`,
  );
  return rows;
}

/** What PostgreSQL has read, of each table. */
import type { Client, Pool, Queryable } from '../../src/platform/db/database.ts';

/** Rows that were read so far, by scanning or by index, by table. */
export async function rowsRead(db: Queryable): Promise<Map<string, number>> {
  const { rows } = await db.query<{ name: string; read: number }>({
    text: `select t.relname as name, (t.seq_tup_read + coalesce(sum(i.idx_tup_read), 0))::float8 as read
      from pg_stat_user_tables t
      left join pg_stat_user_indexes i
        using (relid)
      group by t.relid, t.relname, t.seq_tup_read`,
  });
  return new Map(rows.map(({ name, read }) => [name, read]));
}

/**
 * What `work` gives, and how many rows it reads of each table by the connection that it is handed. Tables of a few pages are
 * scanned with good reason: here they are not, unless it `mayScan`.
 */
export async function countRead<Value>(
  pool: Pool,
  work: (client: Client) => Promise<Value>,
  { mayScan = false } = {},
): Promise<{ value: Value; read(table: string): number }> {
  const client = await pool.connect();
  const readSoFar = async () => {
    await client.query('select pg_stat_force_next_flush()');
    return rowsRead(client);
  };
  try {
    if (!mayScan) await client.query('set enable_seqscan = off');
    const before = await readSoFar();
    const value = await work(client);
    const after = await readSoFar();
    return { value, read: (table) => (after.get(table) ?? 0) - (before.get(table) ?? 0) };
  } finally {
    client.release(true);
  }
}

/** Has the idle connections of the pools tell what they read so far; without it they tell now and then. */
export async function tellRead(...pools: readonly Pool[]): Promise<void> {
  for (const pool of pools) {
    const clients = await Promise.all(Array.from({ length: pool.idleCount }, () => pool.connect()));
    for (const client of clients) {
      await client.query('select pg_stat_force_next_flush()');
      client.release();
    }
  }
}

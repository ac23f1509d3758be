/** What PostgreSQL has read, of each table. */
import type { Pool, Queryable } from '../../src/platform/db/database.ts';

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

/** Whether PostgreSQL is distributed by Citus. What differs there is the mode of plans, and that imports have no dry run. */
import type { Queryable } from './database.ts';

export async function isDistributed(db: Pick<Queryable, 'query'>): Promise<boolean> {
  const { rows } = await db.query<{ citus: boolean }>({
    text: `select exists (select from pg_extension where extname = 'citus') as citus`,
  });
  return rows[0]?.citus === true;
}

/** Whether PostgreSQL is distributed by Citus. What differs there is the mode of plans, and that imports have no dry run. */
import type { Queryable } from './database.ts';

export async function isDistributed(db: Pick<Queryable, 'query'>): Promise<boolean> {
  const { rows } = await db.query<{ citus: boolean }>({
    text: `select exists (select from pg_extension where extname = 'citus') as citus`,
  });
  return rows[0]?.citus === true;
}

/**
 * The `plan_cache_mode` for statements whose plan must not depend on the organisation: statistics know nothing of one that
 * came after them, and PostgreSQL then takes its rows for few. Citus plans each statement with its parameters, to find the
 * node: it refuses generic plans (docs/adr/0133).
 */
export async function onePlanForAll(db: Pick<Queryable, 'query'>): Promise<string> {
  return (await isDistributed(db)) ? 'auto' : 'force_generic_plan';
}

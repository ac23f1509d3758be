/** The connections of a delivery worker. */
import { createPool, type Pool, type PoolOptions } from '../../platform/db/database.ts';

/** By index, whatever the statistics say. */
const BY_INDEX = {
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  enable_bitmapscan: 'off',
};

/**
 * A pool whose statements go by index, whatever size the tables had when they were planned. The tables of the queue
 * grow from nothing to a million rows and back; a plan made while they were empty would scan them (docs/adr/0020).
 */
export function createDeliveryPool(
  options: Pick<PoolOptions, 'url' | 'role' | 'max' | 'limits' | 'onFailure'>,
  onError: (error: Error) => void,
): Pool {
  let planCacheMode: string | undefined;
  return createPool(
    {
      ...options,
      applicationName: 'interchange delivery',
      async settingsOn(client) {
        planCacheMode ??= await choosePlanCacheMode(client);
        return { ...BY_INDEX, plan_cache_mode: planCacheMode };
      },
    },
    onError,
  );
}

/**
 * Citus plans each statement with its parameters, to find the node: it refuses generic plans (docs/adr/0133). This is all
 * that the service does otherwise there.
 */
async function choosePlanCacheMode(client: Pick<Pool, 'query'>): Promise<string> {
  const { rows } = await client.query<{ citus: boolean }>({
    text: `select exists (select from pg_extension where extname = 'citus') as citus`,
  });
  return rows[0]?.citus === true ? 'auto' : 'force_generic_plan';
}

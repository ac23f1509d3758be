/** The connections of a delivery worker. */
import { createPool, type Pool, type PoolOptions } from '../../platform/db/database.ts';

/**
 * A pool whose statements go by index, whatever size the tables had when they were planned. The tables of the queue
 * grow from nothing to a million rows and back; a plan made while they were empty would scan them (docs/adr/0020).
 */
export function createDeliveryPool(
  options: Pick<PoolOptions, 'url' | 'role' | 'max' | 'limits' | 'onFailure'>,
  onError: (error: Error) => void,
): Pool {
  const settings = {
    enable_seqscan: 'off',
    enable_hashjoin: 'off',
    enable_mergejoin: 'off',
    enable_bitmapscan: 'off',
    plan_cache_mode: 'force_generic_plan',
  };
  return createPool({ ...options, settings, applicationName: 'interchange delivery' }, onError);
}

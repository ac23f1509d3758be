/**
 * Calls the workers when deliveries of an organisation were queued or changed, so that they need not ask for each
 * organisation all the time. A call that is lost costs time and nothing else: workers look by themselves, too.
 * Contract: EXC-55.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterCommit, type Client, type Pool } from '../../platform/db/database.ts';

export const DELIVERY_CHANNEL = 'interchange_deliveries';

/** Calls for one organisation are this far apart at least; those between are one. */
const APART_MS = 50;

/** By organisation: whether it is to be called once more. */
const calls = new WeakMap<Pool, Map<string, { again: boolean }>>();

/**
 * Call the workers for an organisation once the transaction of the client is committed. Not inside it: commits that
 * notify wait for each other.
 */
export function callWorkers(client: Client, organisationId: string): void {
  afterCommit(client, (pool) => void call(pool, organisationId));
}

async function call(pool: Pool, organisationId: string): Promise<void> {
  const ofPool = calls.get(pool) ?? new Map<string, { again: boolean }>();
  calls.set(pool, ofPool);
  const underWay = ofPool.get(organisationId);
  if (underWay !== undefined) {
    underWay.again = true;
    return;
  }
  const own = { again: true };
  ofPool.set(organisationId, own);
  while (own.again) {
    own.again = false;
    await pool
      .query({
        name: 'exchange-call-workers',
        text: 'select pg_notify($1, $2)',
        values: [DELIVERY_CHANNEL, organisationId],
      })
      .catch(() => undefined);
    await sleep(APART_MS, undefined, { ref: false });
  }
  ofPool.delete(organisationId);
}

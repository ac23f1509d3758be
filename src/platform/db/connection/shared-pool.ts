/**
 * Shares the connections of a pool out: a party may take one as long as it has fewer than it leaves free. So one whose
 * statements hang has half of them at most, and the next ones half of what is left (docs/adr/0146).
 * Contract: OPS-41.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type pg from 'pg';

type Connect = pg.Pool['connect'];
type Callback = Parameters<Connect>[0];

/** For whom the running code asks; nobody's share is limited where that is not said. */
const PARTY = new AsyncLocalStorage<string>();

/** The connections that `run` takes of a shared pool count for this party. */
export function countedFor<T>(party: string, run: () => T): T {
  return PARTY.run(party, run);
}

interface Waiting {
  party: string;
  begin: () => void;
}

/** `connect` of the pool, for parties that take turns. They wait `waitMs` at most, as pg does for a full pool. */
export function sharedConnect(pool: pg.Pool, connect: Connect, waitMs: number): Connect {
  const shares = createShares(pool.options.max ?? 0);
  const parties = new WeakMap<pg.PoolClient, string | undefined>();
  const waiting = new Set<Waiting>();
  pool.on('release', (_error, client) => giveBack(parties.get(client)));

  function giveBack(party: string | undefined): void {
    shares.count(party, -1);
    for (const one of waiting) if (shares.isFree(one.party)) one.begin();
  }

  async function take(party: string | undefined): Promise<pg.PoolClient> {
    if (party === undefined || shares.isFree(party)) shares.count(party, 1);
    else await turnOf(party);
    try {
      const client = await (connect as () => Promise<pg.PoolClient>).call(pool);
      parties.set(client, party);
      return client;
    } catch (error) {
      giveBack(party);
      throw error;
    }
  }

  function turnOf(party: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = () => {
        clearTimeout(timer);
        waiting.delete(one);
      };
      const one: Waiting = {
        party,
        begin() {
          end();
          shares.count(party, 1);
          resolve();
        },
      };
      const timer = setTimeout(() => {
        end();
        // In the words of pg: it is the same outage to whoever asked.
        reject(new Error('timeout exceeded when trying to connect'));
      }, waitMs);
      waiting.add(one);
    });
  }

  return ((callback?: Callback) => {
    const taken = take(PARTY.getStore());
    if (callback === undefined) return taken;
    taken.then(
      (client) => callback(undefined, client, (error) => client.release(error)),
      (error: Error) => callback(error, undefined, () => undefined),
    );
    return undefined;
  }) as Connect;
}

function createShares(connections: number) {
  const taken = new Map<string, number>();
  let total = 0;
  return {
    isFree: (party: string) => (taken.get(party) ?? 0) < connections - total,
    count(party: string | undefined, more: 1 | -1) {
      total += more;
      if (party === undefined) return;
      const left = (taken.get(party) ?? 0) + more;
      if (left === 0) taken.delete(party);
      else taken.set(party, left);
    },
  };
}
